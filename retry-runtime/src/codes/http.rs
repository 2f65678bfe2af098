//! The statuses of HTTP.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of an HTTP status.
///
/// It follows RFC 9110, unless a comment names another source. A status outside of 400 to 599 is not a failure, and
/// its verdict is unknown. For `Retry-After`, see the module `http_1` of the feature `http-1`.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::http_status(503), Verdict::Transient);
/// assert_eq!(codes::http_status(429), Verdict::Throttled);
/// assert_eq!(codes::http_status(404), Verdict::Permanent);
/// assert_eq!(codes::http_status(200), Verdict::Unknown);
/// ```
#[must_use]
pub fn http_status(status: impl CodeNumber) -> Verdict {
    match status.code_number() {
        // The server waited for the request and gave up; a client "MAY repeat the request".
        408 => Verdict::Transient,
        // RFC 9110, 15.5.20: another connection may reach the server that is responsible.
        421 => Verdict::Refused,
        // RFC 8470: the server did not run a request that might be a replay.
        425 => Verdict::Refused,
        // RFC 6585.
        429 => Verdict::Throttled,
        // The server failed, perhaps after it did a part of the work.
        500 => Verdict::Transient,
        // A gateway got no good answer. The server behind it may have run the request.
        502 | 504 => Verdict::Transient,
        // "Likely to be alleviated after some delay."
        503 => Verdict::Transient,

        // The request, or the configuration of the server, is at fault: 501, 505, 506, 508 and 510.
        // 507 needs space to be freed, 511 needs a login.
        501 | 505..=508 | 510 | 511 => Verdict::Permanent,
        // The request is at fault, or something else has to happen first (409, 423).
        400..=499 => Verdict::Permanent,

        // These are not registered. Cloudflare sends them if the server behind it gave no good answer (520), is down
        // (521), cannot be reached (522, 523, 527), or took too long (524): "Cloudflare 5xx errors" of
        // developers.cloudflare.com. They are like 502 and 504. Another gateway may use them in another way, so even
        // 521 does not prove that nothing ran.
        520..=524 | 527 => Verdict::Transient,
        // Cloudflare: the TLS handshake failed, or the certificate is not valid. Someone must change the configuration.
        525 | 526 => Verdict::Permanent,
        // "Overloaded" by all clients together: the error pages of Anthropic's API and Qualys.
        529 => Verdict::Throttled,

        // Not a failure, or used in too many ways (509, 530, 598, 599).
        _ => Verdict::Unknown,
    }
}
