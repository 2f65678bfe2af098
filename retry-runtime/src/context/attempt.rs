//! The attempt that the current code runs in, as that code sees it, and its idempotency key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::frame::{Frame, outer};
use super::rest::Rest;
use crate::clock::Stamp;
use crate::getters::getters;
use crate::report::{PreviousFailure, Which};
use crate::rng;
#[cfg(feature = "http-1")]
use crate::trace::record;

/// The attempt that the current code runs in.
///
/// Get it with [`Attempt::current`] in the body of an annotated function, or in code that the body calls. It is a
/// snapshot of that moment. You may keep it and send it to other threads.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::io;
///
/// use reattempt::{Attempt, FAST_IO};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
/// let current = async || Ok::<_, io::Error>(Attempt::current());
/// let attempt = FAST_IO.run(current).await?.expect("`run` makes attempts");
/// assert_eq!(attempt.number(), 1);
/// assert_eq!(attempt.attempts(), Some(3));
///
/// // Here is no call, so there is no attempt.
/// assert!(Attempt::current().is_none());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Attempt {
    number: u32,
    attempts: Option<u32>,
    previous: Option<PreviousFailure>,
    limit: Stamp,
    which: Which,
    call: Arc<Rest>,
}

impl Attempt {
    /// Returns the attempt that is running, or `None` outside the body of an annotated function and the operation of a
    /// [`Run`](crate::Run).
    ///
    /// In nested annotated functions, it is the attempt of the innermost function. A spawned task is outside, unless
    /// [`propagate`](fn@crate::propagate) carries the attempt into it. Hooks and `before_retry` run between two
    /// attempts, so they are outside too.
    ///
    /// Every future that the body polls counts as part of the body. Tasks of a `LocalSet` that the body runs with
    /// `run_until` are an example.
    ///
    /// The first use in each call allocates.
    #[must_use]
    pub fn current() -> Option<Self> {
        let of = |frame: &Frame| Self {
            number: frame.present(),
            attempts: frame.attempts_allowed(),
            // The first of two has none, although the other may have failed.
            previous: frame.previous.filter(|_| frame.present() > 1),
            limit: frame.limits().nearest(),
            which: frame.which(),
            call: Arc::clone(frame.rest()),
        };
        outer(|frame| frame.is_attempt().then(|| of(frame))).flatten()
    }

    /// Records that the running attempt made progress, such as a part of a download. Does nothing outside of an attempt.
    ///
    /// The `timeout` of the attempt begins again. If this attempt then fails, the count of attempts and the delays begin again
    /// too: it counts as the first. So a call ends after `attempts` failures in a row without progress, and an attempt that
    /// keeps making progress ends only with the deadline. [`number`](Self::number), the idempotency key, the budget, the
    /// deadline and `idempotent` go on as before. Failed retries of calls inside earlier attempts were not in vain, so they no
    /// longer count against calls inside later ones.
    ///
    /// In nested annotated functions, it is the attempt of the innermost function: the timeouts of outer attempts go on. A
    /// hedge shares the timeout of the first attempt, so progress of one is progress of both. A function with `blocking` has no
    /// timeout that cuts an attempt, so [`remaining`](Self::remaining) does not change. Call it as often as you like. The
    /// first use in each call allocates.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use std::io;
    ///
    /// use reattempt::{Attempt, FAST_IO};
    /// # use std::cell::Cell;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> io::Result<()> {
    /// // Each attempt gets one more part before the connection breaks.
    /// let parts = Cell::new(0);
    /// let resume = async || {
    ///     parts.set(parts.get() + 1);
    ///     Attempt::record_progress();
    ///     if parts.get() < 10 { Err(io::Error::from(io::ErrorKind::ConnectionReset)) } else { Ok(()) }
    /// };
    /// FAST_IO.run(resume).unboxed().await?; // `FAST_IO` makes three attempts.
    /// assert_eq!(parts.get(), 10);
    /// # Ok(()) }
    /// ```
    pub fn record_progress() {
        outer(|frame| frame.is_attempt().then(|| frame.progress()));
    }

    getters! {
        /// Returns the number of the attempt, from 1.
        number: u32;

        /// Returns how many attempts the call may make, the first included, or `None` for no limit.
        ///
        /// Attempts before one that made [progress](Self::record_progress) come on top.
        ///
        /// In a nested call, the failed retries of the same operation in earlier attempts of the outer calls are
        /// subtracted.
        attempts: Option<u32>;

        /// Returns how the attempt before this one failed, or `None` in the first attempt.
        previous: Option<PreviousFailure>;
    }

    /// Returns whether it is a hedge: the second attempt, which began while the first was still pending. A hedge sent to
    /// another server is of most use.
    #[must_use]
    pub fn is_hedge(&self) -> bool {
        self.which == Which::Hedge
    }

    /// Returns the time left until the nearest limit, in `[0, limit]`, or `None` without a limit.
    ///
    /// The limits are the attempt's timeout, the deadline of its call, and the limits of outer calls and scopes.
    /// Pass the time on to the service that you call: [`deadline::header`](crate::deadline::header) writes it as the
    /// value of a header.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.limit.left()
    }

    /// Returns the key by which a service recognises a repeated request. All attempts of a call have the same key, and
    /// no two calls have the same.
    ///
    /// The key is made at the first use, from the randomness of the operating system. A nested call has a key of its
    /// own, because the outer body may make several calls, which are different requests. To use one key in all
    /// attempts of the outer call, ask for the key there and pass it on.
    ///
    /// # Panics
    ///
    /// - If the operating system gives no randomness.
    #[must_use]
    pub fn idempotency_key(&self) -> IdempotencyKey {
        self.call.noted().keyed = true;
        IdempotencyKey(*self.call.key.get_or_init(rng::uuid))
    }

    /// Whether a request with the same key may run now: that of an attempt before this one, or beside it.
    #[cfg(feature = "http-1")]
    pub(crate) fn key_may_be_in_use(&self) -> bool {
        let noted = self.call.noted();
        noted.keyed && noted.in_doubt
    }

    /// Records the number of resends in the span of the attempt, unless it is the first.
    #[cfg(feature = "http-1")]
    pub(crate) fn record_resend(&self) {
        if let Some(resends) = self.number.checked_sub(1).filter(|resends| *resends > 0) {
            let span = self.call.noted().spans.attempt(self.which);
            span.inspect(|span| record(span, "http.request.resend_count", &i64::from(resends)));
        }
    }
}

/// The idempotency key of one call: 122 random bits, shown as a UUID of version 4 (RFC 9562).
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
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
pub struct IdempotencyKey(u128);

impl IdempotencyKey {
    /// Returns the key as a number.
    #[must_use]
    pub fn as_u128(self) -> u128 {
        self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = format!("{:032x}", self.0);
        let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &key[part]);
        f.pad(&parts.join("-"))
    }
}

/// Notes that the current attempt sends an idempotency key, of the call or of its caller.
pub fn note_key() {
    if let Some(attempt) = Attempt::current() {
        attempt.call.noted().keyed = true;
    }
}
