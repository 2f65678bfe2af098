//! The adapter of one version of `tonic`. The module around names the crates of that version `client`, `types` and `prost`.

use std::time::Duration;

use super::client::metadata::MetadataMap;
use super::client::{Code, Status, TimeoutExpired};
use super::prost::Message as _;
use super::types::pb;
use crate::adapters::http::headers::{GRPC, attempt, set_header, set_key};
use crate::adapters::http::retry_after;
use crate::adapters::known::{Alone, Answer, by_its_chain};
use crate::classify::{Assessment, OfClient, Retryable, Verdict};
use crate::codes;
use ::http::HeaderName;

/// The verdict is that of [`codes::grpc`](codes::grpc()).
#[diagnostic::do_not_recommend]
impl Retryable for Code {
    fn verdict(&self) -> Verdict {
        codes::grpc(i32::from(*self))
    }
}

impl OfClient for Status {}

by_its_chain! {
    /// The verdict follows the pushback of the server, then the source of the status, then its [`Code`].
    ///
    /// - `grpc-retry-pushback-ms` and `RetryInfo` give the delay of the server. `RetryInfo` is a detail of the status, or in the
    ///   trailer `google.rpc.retryinfo-bin`, where Spanner sends it. A negative delay, a pushback
    ///   that cannot be read and several pushbacks are permanent: the server wants no retry (gRFC A6).
    /// - Without these, `retry-after` gives the delay, which a proxy sends with an HTTP status and without a gRPC one.
    /// - `ResourceExhausted` with a delay is throttled. So is `Unavailable` with `retry-after`: tonic makes it of the HTTP
    ///   statuses 429, 502, 503 and 504.
    /// - `ResourceExhausted` with the text of a tonic server that sheds load is throttled.
    /// - `Cancelled` with the text of tonic's [`TimeoutExpired`] is transient: the server ran out of time.
    /// - A status that this client made has the verdict of its source: a lost connection, or a timeout. Without a connection
    ///   nothing was sent, so it is refused, unless the cause is permanent, such as a certificate that is not valid.
    Status
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
by_its_chain! {
    /// The error of a `Channel`: the innermost error with a verdict decides, such as that of the connection.
    super::client::transport::Error
}

impl Alone for Status {
    fn alone(&self) -> Answer {
        let code = self.code();
        let (hint, throttled) = match pushback(self) {
            Some(Pushback::Never) => return Answer::certain(Verdict::Permanent),
            Some(Pushback::After(delay)) => (Some(delay), code == Code::ResourceExhausted),
            None => (
                retry_after(self.metadata().as_ref()),
                matches!(code, Code::ResourceExhausted | Code::Unavailable),
            ),
        };
        let verdict = if throttled && hint.is_some() || is_shed(self) {
            Verdict::Throttled
        } else if is_out_of_time(self) {
            Verdict::Transient
        } else {
            code.verdict()
        };
        Answer {
            assessment: Assessment::new(verdict).with_hint(hint),
            is_certain: hint.is_some() || verdict == Verdict::Permanent,
            // The transport behind it tells.
            was_connected: false,
        }
    }
}

/// Whether a `tonic` server reports that the time of `grpc-timeout`, or its own timeout, is over. It sends the code
/// `Cancelled` with this text.
fn is_out_of_time(status: &Status) -> bool {
    status.code() == Code::Cancelled && status.message() == TimeoutExpired(()).to_string()
}

/// Whether a `tonic` server let the call not begin, because too many run.
fn is_shed(status: &Status) -> bool {
    status.code() == Code::ResourceExhausted
        && status.message() == "Too many active requests for the connection"
}

/// The wish of the server for the next attempt.
enum Pushback {
    After(Duration),
    Never,
}

fn pushback(status: &Status) -> Option<Pushback> {
    let sent = status.metadata().get_all("grpc-retry-pushback-ms");
    let mut sent = sent.iter();
    let Some(first) = sent.next() else {
        return retry_info(status);
    };
    // "If the value for pushback is negative or unparseable, then it will be seen as the server asking
    // the client not to retry at all." Several values cannot be parsed either.
    let text = first.to_str().ok().filter(|_| sent.next().is_none());
    let millis = text.and_then(|text| text.trim().parse::<i64>().ok());
    let millis = millis.and_then(|millis| u64::try_from(millis).ok());
    let delay = millis.map(Duration::from_millis);
    Some(delay.map_or(Pushback::Never, Pushback::After))
}

/// Reads the delay of `google.rpc.RetryInfo`, from the details or from the trailer of its own.
///
/// `tonic_types::RetryInfo` is not used: it turns a negative delay, which means no retry, into zero, and
/// its conversion can overflow.
fn retry_info(status: &Status) -> Option<Pushback> {
    let details = pb::Status::decode(status.details()).ok();
    let detail = details.and_then(|status| {
        let mut details = status.details.into_iter();
        details.find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))
    });
    let delay = match detail {
        Some(info) => pb::RetryInfo::decode(info.value.as_slice()),
        None => {
            let trailer = status.metadata().get_bin("google.rpc.retryinfo-bin")?;
            pb::RetryInfo::decode(trailer.to_bytes().ok()?)
        }
    };
    let delay = delay.ok()?.retry_delay?;
    let seconds = u64::try_from(delay.seconds).map(Duration::from_secs);
    let nanos = u64::try_from(delay.nanos).map(Duration::from_nanos);
    Some(match (seconds, nanos) {
        (Ok(seconds), Ok(nanos)) => Pushback::After(seconds.saturating_add(nanos)),
        _ => Pushback::Never,
    })
}

/// Describes the current attempt to the server.
///
/// | metadata | value |
/// |---|---|
/// | `idempotency-key` | the same UUID for all attempts of a call |
/// | `grpc-previous-rpc-attempts` | the number of attempts before this one, from the second attempt on (gRFC A6) |
/// | `grpc-timeout` | the time left, if the attempt has a limit (*gRPC over HTTP2*, gRPC project) |
///
/// A key that is already set is kept, the number is replaced, and of two times the shorter one is sent. Outside of an attempt,
/// as in an interceptor above the layer that retries, nothing is set, and an event of level warn says where.
///
/// # Panics
///
/// - If the operating system gives no randomness for the key.
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::adapters::tonic as tonic_0_14; }
/// let mut request = tonic::Request::new("order 7");
/// reattempt::tonic_0_14::set_attempt_metadata(request.metadata_mut());
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(request.metadata().is_empty());
/// ```
#[track_caller]
pub fn set_attempt_metadata(metadata: &mut MetadataMap) {
    let Some(attempt) = attempt() else {
        return;
    };
    let headers = metadata.as_mut();
    set_key(headers, &attempt);
    let previous = HeaderName::from_static("grpc-previous-rpc-attempts");
    match attempt.number() - 1 {
        0 => drop(headers.remove(previous)),
        number => set_header(headers, previous, number.to_string()),
    }
    GRPC.set_left(headers);
}

#[cfg(test)]
mod tests;
