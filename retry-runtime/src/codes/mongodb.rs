//! The error codes of MongoDB.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of an error code of a MongoDB server, such as 10107 for `NotWritablePrimary`.
///
/// Ask the labels of the error first: a server since 4.4 says `RetryableWriteError` or `TransientTransactionError`. The driver
/// retries one time by itself, unless `retryWrites` and `retryReads` are false.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::mongodb(10107), Verdict::Transient); // NotWritablePrimary
/// assert_eq!(codes::mongodb(112), Verdict::Conflict); // WriteConflict
/// assert_eq!(codes::mongodb(11000), Verdict::Permanent); // DuplicateKey
/// ```
#[must_use]
pub fn mongodb(code: impl CodeNumber) -> Verdict {
    // "Retryable Writes" of the driver specifications (github.com/mongodb/specifications, 0a7a8b52) lists the first two groups. The
    // names are those of `error_codes.yml` of the server (007ba934).
    match code.code_number() {
        // NotWritablePrimary, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary: as the error of a write concern, it may have run.
        10107 | 13435 | 13436 => Verdict::Transient,
        // HostUnreachable, HostNotFound, NetworkTimeout, SocketException, ShutdownInProgress, PrimarySteppedDown,
        // ExceededTimeLimit, InterruptedAtShutdown, InterruptedDueToReplStateChange
        6 | 7 | 89 | 9001 | 91 | 189 | 262 | 11600 | 11602 => Verdict::Transient,

        // WriteConflict: the transaction was rolled back.
        112 => Verdict::Conflict,
        // Unauthorized, AuthenticationFailed, DocumentValidationFailure, DuplicateKey
        13 | 18 | 121 | 11000 => Verdict::Permanent,

        // MaxTimeMSExpired (50) would be as slow again, or not.
        _ => Verdict::Unknown,
    }
}
