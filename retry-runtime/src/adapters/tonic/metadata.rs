//! The metadata that tells a gRPC server about the current attempt.

use ::tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};

use crate::context::Attempt;
use crate::deadline::header::format_grpc_timeout;

/// Tells the server about the current attempt.
///
/// | metadata | value |
/// |---|---|
/// | `idempotency-key` | the same UUID for all attempts of a call |
/// | `grpc-previous-rpc-attempts` | the number of attempts before this one, from the second attempt on (gRFC A6) |
/// | `grpc-timeout` | the time left, if the attempt has a limit (*gRPC over HTTP2*, gRPC project) |
///
/// Metadata that is already set is kept. Outside of an attempt, nothing is set.
///
/// # Panics
///
/// - If the operating system gives no randomness for the key.
///
/// # Examples
///
/// ```
/// # use retry_runtime::adapters as reattempt;
/// let mut request = tonic::Request::new("order 7");
/// reattempt::tonic::set_attempt_metadata(request.metadata_mut());
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(request.metadata().is_empty());
/// ```
pub fn set_attempt_metadata(metadata: &mut MetadataMap) {
    let Some(attempt) = Attempt::current() else {
        return;
    };
    set(metadata, "idempotency-key", || {
        attempt.idempotency_key().to_string()
    });
    let previous = attempt.number() - 1;
    if previous > 0 {
        set(metadata, "grpc-previous-rpc-attempts", || {
            previous.to_string()
        });
    }
    if let Some(left) = attempt.remaining() {
        set(metadata, "grpc-timeout", || format_grpc_timeout(left));
    }
}

fn set(metadata: &mut MetadataMap, name: &'static str, text: impl FnOnce() -> String) {
    if metadata.contains_key(name) {
        return;
    }
    // Digits, letters and hyphens always make a valid value.
    if let Ok(value) = AsciiMetadataValue::try_from(text()) {
        metadata.insert(AsciiMetadataKey::from_static(name), value);
    }
}
