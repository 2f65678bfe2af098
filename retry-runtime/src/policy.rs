//! The settings of a call.

mod budget;
mod schedule;
mod table;

use std::time::Duration;

pub(crate) use self::budget::PolicyBudget;
pub(crate) use self::schedule::{attempts_for, delays_range};
use crate::budget::thousandths;
use crate::getters::{getters, setters};
use crate::words::words;
use crate::{Backoff, Jitter};

/// The settings of a call: how often, how long, and how far apart.
///
/// Make a `Policy` in a `const`, so that its values are checked at compile time, and name it in the attribute:
/// `#[retry(policy = PAYMENTS)]`. Other keys of the attribute override it. The attribute borrows the policy. A setter takes
/// it, so clone a policy that is not a constant: `self.policy.clone().with_attempts(2)`.
///
/// With the feature `serde`, a `Policy` is read from and written to configuration, with the attribute's keys and words.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Jitter, Policy};
/// use std::time::Duration;
///
/// const PAYMENTS: Policy = Policy::new()
///     .with_attempts(4)
///     .with_timeout(Duration::from_millis(800))
///     .with_deadline(Duration::from_secs(3))
///     .with_jitter(Jitter::Equal);
///
/// assert_eq!(PAYMENTS.attempts(), Some(4));
/// assert_eq!(PAYMENTS.base(), Duration::from_millis(100));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    attempts: u32,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    backoff: Backoff,
    base: Duration,
    throttled_base: Option<Duration>,
    min_delay: Duration,
    max_delay: Duration,
    /// In thousandths: fixed-point, so that policies can be compared.
    factor: Option<u32>,
    jitter: Jitter,
    max_retry_after: Duration,
    budget: PolicyBudget,
    hedge: Option<Duration>,
    nested: Nested,
    silent: bool,
}

/// No limit on the number of attempts.
const UNLIMITED: u32 = u32::MAX;

impl Policy {
    /// The defaults: 3 attempts, no timeout, no deadline, exponential backoff from 100 ms (1 s if throttled) to 20 s by a
    /// factor of 2, full jitter, hints up to 60 s, the [default budget](crate::Budget::new) and no hedge.
    ///
    /// The AWS SDKs use three attempts and a maximum backoff of 20 s too. We chose the base of 100 ms, which is long
    /// enough to relieve a busy server.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            attempts: 3,
            timeout: None,
            deadline: None,
            backoff: Backoff::Exponential,
            base: Duration::from_millis(100),
            throttled_base: None,
            min_delay: Duration::ZERO,
            max_delay: Duration::from_secs(20),
            factor: None,
            jitter: Jitter::Full,
            max_retry_after: Duration::from_secs(60),
            budget: PolicyBudget::Default,
            hedge: None,
            nested: Nested::Add,
            silent: false,
        }
    }

    /// What a hand-written loop does, for a program that replaces one and must behave as it did: no budget, nested retries
    /// multiply, no event, and hints of any length are followed. The rest is [`new`](Self::new).
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::{Nested, Policy, WithoutLimits};
    ///
    /// const AS_BEFORE: WithoutLimits = Policy::bare().with_attempts(5).without_limits();
    /// assert_eq!(AS_BEFORE.policy().nested(), Nested::Multiply);
    /// ```
    #[must_use]
    pub const fn bare() -> Self {
        Self {
            max_retry_after: Duration::MAX,
            budget: PolicyBudget::None,
            nested: Nested::Multiply,
            silent: true,
            ..Self::new()
        }
    }

    /// Sets the number of attempts, the first included. Default: 3. 0 counts as 1. `u32::MAX` is no limit, as
    /// [`with_unlimited_attempts`](Self::with_unlimited_attempts).
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = if attempts == 0 { 1 } else { attempts };
        self
    }

    /// Removes the limit on the number of attempts, and the default budget with it.
    ///
    /// A call with unlimited attempts ends only by success, by an error that must not be retried, by its deadline, or by being
    /// cancelled or dropped. Everything else makes it wait for the longest delay, such as a budget that refuses a retry.
    #[must_use]
    pub const fn with_unlimited_attempts(mut self) -> Self {
        self.attempts = UNLIMITED;
        self
    }

    /// Sets the delay before each retry, in place of a backoff. The last delay is repeated if there are more retries.
    ///
    /// This also sets the number of attempts to one more than there are delays, and the jitter to `none`. To change
    /// that, call [`with_attempts`](Self::with_attempts) and [`with_jitter`](Self::with_jitter) after it. `base`,
    /// `throttled_base`, `factor`, `min_delay` and `max_delay` have no effect. A delay of zero retries at once. The list must
    /// be constant: outside of a `const`, write `const { &[…] }`. The attribute's key `delays` takes other lists too.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::Policy;
    /// use std::time::Duration;
    ///
    /// const AT_ONCE_FIRST: Policy =
    ///     Policy::new().with_delays(&[Duration::ZERO, Duration::from_millis(200)]);
    /// assert_eq!(AT_ONCE_FIRST.attempts(), Some(3));
    /// assert_eq!(AT_ONCE_FIRST.delay_range(0, None), Duration::ZERO..=Duration::ZERO);
    /// ```
    #[must_use]
    pub const fn with_delays(mut self, delays: &'static [Duration]) -> Self {
        self.backoff = Backoff::Delays(delays);
        self.jitter = Jitter::None;
        self.attempts = attempts_for(delays);
        self
    }

    setters! {
        /// Sets the limit of one attempt. Default: none.
        ///
        /// Timers round up to the next millisecond. With a timeout of zero, each attempt is polled once.
        with_timeout(timeout: Duration) => timeout = Some(timeout);

        /// Sets or removes the limit of one attempt, such as that of a configuration.
        with_optional_timeout(timeout: Option<Duration>) => timeout = timeout;

        /// Sets or removes the limit of the whole call, such as a `--max-time`.
        ///
        /// # Examples
        ///
        /// ```
        /// # use reattempt_runtime as reattempt;
        /// use std::time::Duration;
        ///
        /// use reattempt::Policy;
        ///
        /// const fn policy(max_time: Option<Duration>) -> Policy {
        ///     Policy::new().with_optional_deadline(max_time)
        /// }
        /// assert_eq!(policy(None).deadline(), None);
        /// ```
        with_optional_deadline(deadline: Option<Duration>) => deadline = deadline;

        /// Sets the limit of the whole call, waits included. Default: none.
        ///
        /// Timers round up to the next millisecond. With a deadline of zero, the first attempt is polled once.
        with_deadline(deadline: Duration) => deadline = Some(deadline);

        /// Sets how the ceiling of the delay grows. Default: [`Backoff::Exponential`].
        with_backoff(backoff: Backoff) => backoff = backoff;

        /// Sets the ceiling of the first delay. Default: 100 ms. A base above `max_delay` counts as `max_delay`.
        with_base(base: Duration) => base = base;

        /// Sets the base that counts after a throttled failure without a hint, such as status 429 without `Retry-After`.
        /// Default: ten times [`base`](Self::with_base).
        ///
        /// `docs/LOAD.md`, *Quotas*, has the reason. The AWS SDKs use 1 s there, and 50 ms elsewhere (AWS SDKs and Tools Reference
        /// Guide, *Retry behavior*, 2026). To see these delays, look at the [`delay_range`](Self::delay_range) of a policy with this base.
        with_throttled_base(throttled_base: Duration) => throttled_base = Some(throttled_base);

        /// Sets the shortest delay, jitter included. Default: 0. It raises both ends of the range from which a delay is drawn.
        /// A shortest delay above `max_delay` counts as `max_delay`.
        with_min_delay(min_delay: Duration) => min_delay = min_delay;

        /// Sets the longest delay, jitter included. Default: 20 s. A longer one that a server asks for is followed up to
        /// [`max_retry_after`](Self::with_max_retry_after).
        with_max_delay(max_delay: Duration) => max_delay = max_delay;
    }

    /// Raises `max_delay` to `base`, `throttled_base` and `min_delay`: for an attribute that gives one of these by an expression,
    /// and leaves `max_delay` at its default. A literal above that is a compile error.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_room_for_delays(mut self) -> Self {
        self.max_delay = longer(self.max_delay, longer(self.base, self.min_delay));
        if let Some(throttled_base) = self.throttled_base {
            self.max_delay = longer(self.max_delay, throttled_base);
        }
        self
    }

    setters! {
        /// Sets the factor by which the exponential ceiling grows, in `[1, 1000]`, rounded to thousandths. Default: 2, and 3 with
        /// [`Jitter::Decorrelated`], where a delay grows by it. A number out of range counts as the nearer end of the range, and
        /// NaN as 1.
        // The larger of NaN and 1 is 1.
        with_factor(factor: f64) => factor = Some(thousandths(factor.max(1.0).min(1000.0)));
    }

    /// Sets how a delay is drawn below or around its ceiling. Default: [`Jitter::Full`].
    #[must_use]
    pub const fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = match jitter {
            Jitter::Around(100..) => Jitter::Around(100),
            jitter => jitter,
        };
        self
    }

    setters! {
        /// Sets the longest hint that is followed. Default: 60 s. A longer hint ends the call, with
        /// [`Outcome::HintTooLong`](crate::Outcome::HintTooLong). Jitter adds at most a quarter of the hint, so no wait for a hint is
        /// longer than 1.25 times this, unless the policy's own delay is.
        with_max_retry_after(max_retry_after: Duration) => max_retry_after = max_retry_after;

        /// Sets after how long a second attempt begins beside the first, if the first is still pending. Default: never.
        /// Less than 1 ms counts as 1 ms.
        ///
        /// Two attempts at a time need the right arguments, so only functions with `hedge = "policy"` in their attribute hedge. The
        /// key `hedge` may also say the time itself.
        with_hedge(hedge: Duration) => hedge = Some(hedge);

        /// Sets how retries combine with those of outer annotated functions and runs. Default: [`Nested::Add`].
        ///
        /// Configuration neither reads nor writes it: what calls what is known in the code.
        with_nested(nested: Nested) => nested = nested;

        /// Sets whether calls write no event, for a library whose application decides what it logs. Spans, metrics, hooks and reports
        /// go on. Default: false.
        ///
        /// Configuration neither reads nor writes it.
        with_silent(silent: bool) => silent = silent;
    }

    /// Returns the number of attempts, the first included, or `None` for no limit.
    #[must_use]
    pub const fn attempts(&self) -> Option<u32> {
        if self.attempts == UNLIMITED {
            None
        } else {
            Some(self.attempts)
        }
    }

    getters! { const:
        /// Returns the limit of one attempt, or `None` for no limit.
        timeout: Option<Duration>;

        /// Returns the limit of the whole call, or `None` for no limit.
        deadline: Option<Duration>;

        /// Returns how the ceiling of the delay grows.
        backoff: Backoff;

        /// Returns the ceiling of the first delay.
        base: Duration;

        /// Returns the base that counts after a throttled failure without a hint, or `None` for ten times [`base`](Self::base).
        throttled_base: Option<Duration>;

        /// Returns the shortest delay.
        min_delay: Duration;

        /// Returns the longest delay, unless a server asks for a longer one.
        max_delay: Duration;
    }

    /// Returns the factor by which the exponential ceiling grows, or a delay with [`Jitter::Decorrelated`].
    #[must_use]
    pub const fn factor(&self) -> f64 {
        self.thousandths() as f64 / 1000.0
    }

    /// The factor, if it is set.
    #[cfg(feature = "serde")]
    pub(crate) fn given_factor(&self) -> Option<f64> {
        self.factor.map(|_| self.factor())
    }

    const fn thousandths(&self) -> u32 {
        match (self.factor, self.jitter) {
            (Some(factor), _) => factor,
            (None, Jitter::Decorrelated) => 3_000,
            (None, _) => 2_000,
        }
    }

    getters! { const:
        /// Returns how a delay is drawn below or around its ceiling.
        jitter: Jitter;

        /// Returns the longest hint that is followed.
        max_retry_after: Duration;

        /// Returns after how long a second attempt begins beside the first, or `None` for never.
        hedge: Option<Duration>;

        /// Returns how retries combine with those of outer calls.
        nested: Nested;
    }

    /// Returns whether calls write no event.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.silent
    }

    /// The keys, without `budget`, that this policy changes in the one in the code, and that the one of a call changes again.
    pub(crate) fn overridden(&self, code: &Self, of_call: &Self) -> [Option<&'static str>; 12] {
        macro_rules! each {
            ($($key:ident)*) => {
                [$((self.$key != code.$key && self.$key != of_call.$key).then_some(stringify!($key))),*]
            };
        }
        each!(attempts timeout deadline backoff base throttled_base min_delay max_delay factor jitter
            max_retry_after hedge)
    }

    /// The number of attempts, or `u32::MAX` for no limit.
    pub(crate) const fn most_attempts(&self) -> u32 {
        self.attempts
    }

    /// A copy without the timeout and the deadline.
    pub(crate) const fn no_limits(&self) -> Self {
        Self {
            timeout: None,
            deadline: None,
            ..*self
        }
    }

    /// A copy, for the site of a function whose attribute names the policy.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_site(&self) -> Self {
        Self { ..*self }
    }

    /// Returns whether there is a timeout or a deadline, so that a timer may cut a call.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.timeout.is_some() || self.deadline.is_some()
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

/// The longer of two durations. `Duration::max` is not const.
const fn longer(one: Duration, other: Duration) -> Duration {
    if one.as_nanos() > other.as_nanos() {
        one
    } else {
        other
    }
}

/// How the retries of a function combine with those of outer annotated functions.
///
/// If retries multiplied, three layers of four attempts would run the innermost body 64 times, while its service is
/// failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Nested {
    /// Retries add: the failed retries of the same operation in earlier attempts of outer calls are
    /// subtracted in later ones. Two layers of four attempts run the body at most 7 times, three layers at most 10
    /// times. The default.
    ///
    /// From the 1,000th call of one function in an attempt, all its calls count as one operation, with the most failed retries of
    /// them.
    #[default]
    Add,
    /// Retries multiply, as if there were no outer calls: two layers of four attempts run the body up to 16 times.
    Multiply,
    /// Only the outermost call retries. Within another call, this function makes one attempt.
    Outermost,
}

words! {
    Nested, "Returns the word used in the attribute and in logs.",
    Self::Add => "add",
    Self::Multiply => "multiply",
    Self::Outermost => "outermost",
}

/// For services that answer in milliseconds: a cache, a service in the same data centre.
///
/// 3 attempts of at most 500 ms, a base of 10 ms, delays of at most 200 ms, and a deadline of 2 s. Our choice: the
/// base is well above the 1 ms step of timers, and the deadline suits a user who waits for a page.
pub const FAST_IO: Policy = Policy::new()
    .with_attempts(3)
    .with_timeout(Duration::from_millis(500))
    .with_base(Duration::from_millis(10))
    .with_max_delay(Duration::from_millis(200))
    .with_deadline(Duration::from_secs(2));

/// For services that take seconds: the API of a third party, object storage, a report.
///
/// 5 attempts of at most 10 s, a base of 250 ms, delays of at most 20 s, and a deadline of 60 s. Our choice: nginx
/// (`proxy_read_timeout`) also gives a server 60 s by default.
pub const SLOW_IO: Policy = Policy::new()
    .with_attempts(5)
    .with_timeout(Duration::from_secs(10))
    .with_base(Duration::from_millis(250))
    .with_max_delay(Duration::from_secs(20))
    .with_deadline(Duration::from_secs(60));

/// For files: a rename, a removal or a copy that a scanner or another process holds up. Use it with
/// [`verdict = codes::io`](crate::codes::io()).
///
/// 30 attempts, a base of 10 ms, delays of at most 1 s, so up to 23 s, half of it on average; no limit and no budget. Our choice: the
/// cause is in this machine, so retries load no server, and many files in a row may be held, for seconds each.
pub const FILES: Policy = Policy::new()
    .with_attempts(30)
    .with_base(Duration::from_millis(10))
    .with_max_delay(Duration::from_secs(1))
    .without_budget();

/// For work that shall wait for a server and not fail: a batch, a command-line tool, a migration. Give the call the time that the whole work
/// may take: `#[retry(policy = BATCH, timeout = "10s", deadline = "10m")]`, or [`deadline::scope`](crate::deadline::scope) for all items.
///
/// Unlimited attempts, so no budget; delays of at most 5 s; no limit. Our choice: eight workers send a server that is down three or four
/// requests a second, and notice within 5 s that it is back. `docs/LOAD.md`, *Batches*, has what the default does there.
pub const BATCH: Policy = Policy::new()
    .with_unlimited_attempts()
    .with_max_delay(Duration::from_secs(5));

/// One attempt and no limits. Events, metrics and reports go on.
pub const NO_RETRY: Policy = Policy::new().with_attempts(1);
