//! The attempt that the current code runs in, as that code sees it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::cold::Cold;
use super::frame::{Frame, around};
use super::key::IdempotencyKey;
use super::previous::Previous;
#[cfg(all(feature = "http", feature = "tracing"))]
use crate::trace::Spans;

/// The attempt that the current code runs in.
///
/// Get it with [`Attempt::current`] in the body of an annotated function, or in anything that the body
/// calls. It is a copy of how things stood at that moment. You may keep it, send it and pass it on.
///
/// # Examples
///
/// ```
/// use retry_runtime::Attempt;
///
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(Attempt::current().is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Attempt {
    number: u32,
    attempts: Option<u32>,
    previous: Option<Previous>,
    limit: Option<Instant>,
    call: Arc<Cold>,
}

impl Attempt {
    /// Returns the attempt that is running, or `None` outside the body of an annotated function.
    ///
    /// Within nested annotated functions it is the attempt of the innermost one. A spawned task is
    /// outside, unless [`propagate`](fn@crate::propagate) carries the attempt into it. Hooks and
    /// `before_retry` run between two attempts, so they are outside too.
    ///
    /// A future that the body polls on its own counts as part of the body, whatever it belongs to: a task
    /// of a `LocalSet` that the body runs with `run_until`, say.
    ///
    /// The first time in each call, this allocates.
    #[must_use]
    pub fn current() -> Option<Self> {
        around(|frame| frame.is_attempt().then(|| Self::of(frame))).flatten()
    }

    fn of(frame: &Frame) -> Self {
        Self {
            number: frame.number.get(),
            attempts: frame.attempts_allowed(),
            previous: frame.previous.get(),
            limit: frame.nearest(),
            call: Arc::clone(frame.cold()),
        }
    }

    /// The number of the attempt, from 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns how many attempts the call may make, the first included, or `None` for no limit.
    ///
    /// In a nested call, the retries that the function made in vain in earlier attempts of the calls around are
    /// subtracted.
    #[must_use]
    pub fn attempts(&self) -> Option<u32> {
        self.attempts
    }

    /// The time left until the nearest limit, in `[0, limit]`, or `None` without one.
    ///
    /// The limits are the attempt's timeout, the deadline of its call, and those of the calls and scopes
    /// around. Pass it on to the service that you call; [`deadline`](crate::deadline) writes it as a
    /// header.
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

    /// Returns the key by which a service can tell that several requests are one: the same for every
    /// attempt of the call, and another for every other call.
    ///
    /// The key is made when it is first asked for, from the randomness of the operating system. A nested
    /// call has a key of its own, because the body around it may make several calls that must not be
    /// taken for one. Where they have to be the same over the attempts of the outer call too, ask for the
    /// key there and pass it on.
    ///
    /// # Panics
    ///
    /// - If the operating system has no randomness to give.
    #[must_use]
    pub fn idempotency_key(&self) -> IdempotencyKey {
        self.call.key()
    }

    /// Takes note in the span of the attempt that it sends a request again, if it does.
    #[cfg(all(feature = "http", feature = "tracing"))]
    pub(crate) fn record_resend(&self) {
        if let Some(resends) = self.number.checked_sub(1).filter(|resends| *resends > 0) {
            let span = self.call.noted().spans.as_ref().and_then(Spans::attempt);
            if let Some(span) = span {
                Spans::record_resends(&span, resends);
            }
        }
    }
}
