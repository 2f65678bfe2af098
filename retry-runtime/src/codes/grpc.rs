//! The status codes of gRPC.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of a gRPC status code.
///
/// It follows the gRPC documentation of status codes, and does not know the pushback of the server.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// // UNAVAILABLE, NOT_FOUND.
/// assert_eq!(codes::grpc(14), Verdict::Transient);
/// assert_eq!(codes::grpc(5), Verdict::Permanent);
/// ```
#[must_use]
pub fn grpc(code: impl CodeNumber) -> Verdict {
    match code.code_number() {
        // UNAVAILABLE: "most likely a transient condition."
        14 => Verdict::Transient,
        // ABORTED: "typically due to a concurrency issue such as a sequencer check failure or transaction abort". The client
        // "should retry at a higher level", which the annotated function is.
        10 => Verdict::Conflict,
        // DEADLINE_EXCEEDED: the same as a timeout of this client.
        4 => Verdict::Transient,

        // The same request gets the same answer: INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, OUT_OF_RANGE,
        // PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED.
        3 | 5 | 6 | 11 | 7 | 16 | 12 => Verdict::Permanent,
        // FAILED_PRECONDITION: "the client should not retry until the system state has been explicitly fixed."
        9 => Verdict::Permanent,
        // DATA_LOSS: "unrecoverable."
        15 => Verdict::Permanent,

        // RESOURCE_EXHAUSTED (8): a quota that refills, or a message that is too large. `RetryInfo` says which.
        // CANCELLED (1): a user cancelled the call, or a proxy gave up.
        // UNKNOWN (2), INTERNAL (13): a failure of the server. A lost connection has one of these codes too.
        // OK is not a failure. All other numbers are not registered.
        _ => Verdict::Unknown,
    }
}
