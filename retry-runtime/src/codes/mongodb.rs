//! The error codes and the labels of MongoDB.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of an error code of a MongoDB server, such as 10107 for `NotWritablePrimary`.
///
/// Ask the labels of the error first, with [`mongodb_labels`]. The driver retries one time by itself, unless `retryWrites` and
/// `retryReads` are false.
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

/// Returns the verdict of the labels of an error of MongoDB, as in `.verdict(|error| codes::mongodb_labels(error.labels()))`.
///
/// The server and the driver set them. `TransientTransactionError` says that a transaction took no effect: run all of it again.
/// With `UnknownTransactionCommitResult`, it may have: that is unknown, whatever the other labels say, as for a commit in doubt. Without
/// a label that is known, the verdict is unknown too: ask for the [code](mongodb()).
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::mongodb_labels(["RetryableWriteError"]), Verdict::Transient);
/// assert_eq!(codes::mongodb_labels(["TransientTransactionError"]), Verdict::Refused);
/// assert_eq!(codes::mongodb_labels(["RetryableError", "SystemOverloadedError"]), Verdict::Throttled);
/// assert_eq!(codes::mongodb_labels(["RetryableWriteError", "UnknownTransactionCommitResult"]), Verdict::Unknown);
/// ```
#[must_use]
pub fn mongodb_labels<L: AsRef<str>>(labels: impl IntoIterator<Item = L>) -> Verdict {
    // The driver specifications (github.com/mongodb/specifications): "Transactions" (046963f0), "Retryable Writes" (0a7a8b52),
    // "Client Backpressure" (03065ad1) and "Change Streams" (041918d8).
    let labels: Vec<L> = labels.into_iter().collect();
    let has = |label: &str| labels.iter().any(|given| given.as_ref() == label);
    // An error in a transaction, but not that of its commit: it "has already been aborted", or will be.
    let aborted = has("TransientTransactionError");
    // "Safely retryable": about the last command of an operation, which may have sent several. So these are not refused. Nor is an error
    // with `NoWritesPerformed`, which says that much of one command, and not whether another attempt helps.
    let passes =
        has("RetryableWriteError") || has("RetryableError") || has("ResumableChangeStreamError");
    if has("UnknownTransactionCommitResult") || !(aborted || passes) {
        Verdict::Unknown
    } else if has("SystemOverloadedError") {
        // "Drivers will backoff before attempting a retry."
        Verdict::Throttled
    } else if aborted {
        Verdict::Refused
    } else {
        Verdict::Transient
    }
}
