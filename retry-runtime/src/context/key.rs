//! The idempotency key of a call.

use std::fmt;

use crate::rng;

/// The idempotency key of one call: 122 random bits, shown as a UUID of version 4 (RFC 9562).
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use std::io;
///
/// use reattempt::{Attempt, FAST_IO};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
/// let pay = async || {
///     let attempt = Attempt::current().expect("`run` makes attempts");
///     Ok::<_, io::Error>(format!("Idempotency-Key: {}", attempt.idempotency_key()))
/// };
/// // Such as `Idempotency-Key: 8e03978e-40d5-43e8-bc93-6894a57f9324`.
/// let header = FAST_IO.run(pay).await?;
/// assert_eq!(header.len(), "Idempotency-Key: ".len() + 36);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(uuid::Uuid);

impl IdempotencyKey {
    pub(super) fn new() -> Self {
        Self(rng::uuid())
    }

    /// Returns the key as a number.
    #[must_use]
    pub fn as_u128(self) -> u128 {
        self.0.as_u128()
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
