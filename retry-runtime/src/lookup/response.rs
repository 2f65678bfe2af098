//! Whether the `Ok` of an attempt is the bare response of a client, whose status may be a failure.

use std::marker::PhantomData;
use std::time::Duration;

use super::Level;

/// A response of a client. Not one of `http` or `axum`, which may be the answer of a handler.
pub trait BareResponse {
    /// Returns whether another attempt may help, and the delay that the server asks for.
    fn failing(&self) -> (bool, Option<Duration>);
}

/// Asks an `Ok`.
///
/// ```text
/// // Output:                          V: BareResponse        else
/// OkValue::of(value).failing(value)   by its status          (false, None)
/// ```
pub type OkValue<V> = Level<AnyOk<V>>;

/// Any value.
#[derive(Debug)]
pub struct AnyOk<V>(PhantomData<fn(V)>);

impl<V> OkValue<V> {
    /// Takes the type of the value.
    pub const fn of(_: &V) -> Self {
        Level(AnyOk(PhantomData))
    }
}

impl<V: BareResponse> OkValue<V> {
    /// Asks the response.
    pub fn failing(&self, value: &V) -> (bool, Option<Duration>) {
        value.failing()
    }
}

impl<V> AnyOk<V> {
    /// Says nothing.
    pub const fn failing(&self, _: &V) -> (bool, Option<Duration>) {
        (false, None)
    }
}

#[cfg(feature = "_requests")]
macro_rules! bare_responses {
    ($($feature:literal $Response:ty;)+) => {$(
        #[cfg(feature = $feature)]
        impl BareResponse for $Response {
            fn failing(&self) -> (bool, Option<Duration>) {
                let failed = crate::adapters::http::StatusError::retryable(self.status(), self.headers());
                (failed.is_some(), failed.and_then(|failed| failed.retry_after()))
            }
        }
    )+};
}

#[cfg(feature = "_requests")]
bare_responses! {
    "reqwest-0_13" reqwest::Response;
    "reqwest-0_12" reqwest_0_12::Response;
}
