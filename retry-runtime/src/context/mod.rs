//! What an attempt can see of the call that it belongs to.

mod frame;
mod kept;
mod limit;
mod nested;
mod notes;
mod place;
mod propagate;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

pub(crate) use self::frame::{
    Own, Seen, Track, allowed, deadline, enter, inherits, limit, narrow, refuse,
};
pub(crate) use self::limit::Limit;
pub use self::nested::Nested;
pub(crate) use self::notes::Refusal;
pub(crate) use self::place::Kind;
pub use self::propagate::{Propagate, propagate};
use crate::{Verdict, rng};

/// The attempt that the current code runs in, as its call sees it.
///
/// A body gets it from [`Attempt::current`]. It is a copy: it says what was so at that moment, and
/// may be kept, sent, and passed on.
///
/// # Examples
///
/// ```
/// use retry_runtime::Attempt;
///
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(Attempt::current().is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    number: u32,
    attempts: u32,
    previous: Option<Previous>,
    limit: Option<Instant>,
    id: u64,
}

/// How the attempt before this one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Previous {
    /// It returned something that is worth another attempt, of this verdict.
    Failed(Verdict),
    /// It reached its timeout.
    TimedOut,
}

impl Attempt {
    /// Gives the attempt that is running, or `None` outside the body of an annotated function.
    ///
    /// Within nested annotated functions it is the innermost one's. A spawned task is outside, unless
    /// [`propagate`](fn@propagate) carried the attempt into it; so is what a hook or `before_retry` does, which runs
    /// between two attempts.
    #[inline]
    #[must_use]
    pub fn current() -> Option<Self> {
        frame::current()
    }

    /// Its number, in `[1, 16_777_215]`; later attempts have the last of these.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many attempts the call may make, the first included; `u32::MAX` for no limit, which 16,777,215 or
    /// more count as.
    ///
    /// In a nested call these are the function's own less the retries that it made in earlier attempts
    /// of the calls around it.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The time left until the nearest of its limits, in `[0, limit]`, or `None` without one: its
    /// timeout, the deadline of its call, and those of the calls and scopes around it.
    ///
    /// This is what to pass on to the service that is called; [`deadline`](crate::deadline) writes it
    /// as a header.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.limit
            .map(|limit| limit.saturating_duration_since(Instant::now()))
    }

    /// How the attempt before this one failed; `None` in the first.
    #[must_use]
    pub fn previous(&self) -> Option<Previous> {
        self.previous
    }

    /// Gives the key by which a service can tell that several requests are one: the same for every
    /// attempt of the call, and another for every other call.
    ///
    /// It is made when first asked for. A nested call has a key of its own, because the body around
    /// it may make several calls that must not be taken for one; where those are to be the same over
    /// the attempts of the outer call too, ask for the key there and pass it on.
    #[must_use]
    pub fn idempotency_key(&self) -> IdempotencyKey {
        IdempotencyKey(rng::key(self.id))
    }
}

/// Names one call: 128 bits, shown as a random UUID (version 4, RFC 9562).
///
/// # Examples
///
/// ```text
/// Idempotency-Key: 8e03978e-40d5-43e8-bc93-6894a57f9324
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(u128);

impl IdempotencyKey {
    /// The key as a number.
    #[must_use]
    pub fn as_u128(self) -> u128 {
        self.uuid().as_u128()
    }

    fn uuid(self) -> uuid::Uuid {
        uuid::Builder::from_random_bytes(self.0.to_be_bytes()).into_uuid()
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uuid().fmt(f)
    }
}
