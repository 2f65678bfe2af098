//! The error codes of the API of `JetStream`, of NATS.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of the `err_code` of an error of the `JetStream` API, such as 10008. It is not the `code` beside it, which is like an
/// HTTP status.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::jetstream(10008), Verdict::Transient);
/// assert_eq!(codes::jetstream(10071), Verdict::Unknown);
/// ```
#[must_use]
pub fn jetstream(err_code: impl CodeNumber) -> Verdict {
    // `server/errors.json` of nats-server (00903595) has the codes. Most of those with the `code` 500 show a text of any cause, so
    // they are unknown. Some with 503 are settings (10010, 10035, 10036, 10039, 10076), and those with 400 are mistakes, or not what the
    // request expected (10070, 10071): not retried either.
    match err_code.code_number() {
        // JSClusterNotAvailErr "temporarily unavailable", JSClusterNotLeaderErr "can not handle request"
        10008 | 10009 => Verdict::Transient,
        // JSInsufficientResourcesErr
        10023 => Verdict::Throttled,

        // JSAccountResourcesExceededErr, JSMemoryResourcesExceededErr and JSStorageResourcesExceededErr (10002, 10028, 10047) need
        // room, which others may free or not.
        _ => Verdict::Unknown,
    }
}
