//! The metadata that describes the current attempt to a gRPC server.

use super::super::client::metadata::MetadataMap;
use ::http::HeaderName;

use crate::adapters::http::headers::{GRPC, attempt, set_header, set_key};

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
    if let Some(left) = attempt.remaining() {
        GRPC.set(headers, left);
    }
}
