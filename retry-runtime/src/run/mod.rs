//! Retries without the attribute, for closures and blocks.
//!
//! ```text
//! entries, without_limits (where a run begins)
//!   ->  mod (what a caller sets)
//!   ->  ends (where the call is made)
//!   ->  drive (the loops)
//!   ->  turns (between two attempts), rules (which errors), text (of an error)
//! ```

mod drive;
mod ends;
mod entries;
mod rules;
mod text;
mod turns;
mod without_limits;

use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::time::Duration;

pub use self::drive::{Blocking, CanCancel};
pub use self::rules::{AndRule, CanBeUnready, Chained, NoRules, Rule, RunRules};
use self::rules::{AskRule, Judge, answer_of, failure, yes};
pub use self::text::{ByDisplay, ByFunction, MakesText};
use self::turns::{Decides, RunParts};
pub use self::without_limits::WithoutLimits;
use crate::call::{Cut, Signal};
use crate::classify::{OkAnswer, Retryable, Said};
use crate::event::RetryEvent;
use crate::opaque::opaque;
use crate::policy::Policy;
use crate::site::{BudgetOf, DelaysOf, SiteSettings};
use crate::stopped::Stopped;

/// An operation with retries: the future that [`Policy::run`] returns, or the call that [`Policy::run_blocking`]
/// prepares.
///
/// Its rules and its hook have the names of the attribute's keys, such as [`on`](Self::on), [`until`](Self::until) and
/// [`on_retry`](Self::on_retry). A method that sets a value begins with `with_`, as those of [`Policy`] do.
///
/// You need not write the parameters. `RULED` says whether `on` or `when` selects the errors to retry; if not, the error type
/// has to be [`Retryable`]. `C` says whether a limit may cut an attempt, `X` makes the text of an error, and `R` has the rules
/// and hooks. Each rule and each hook changes `R`: to apply a rule conditionally, test the condition inside its closure.
///
/// The first poll boxes the operation with its rules and hooks, which must be `Send`. [`unboxed`](Self::unboxed) does not
/// box them and does not require `Send`: a hook may then change a `Cell` or an `Rc`, as in a test or on a `LocalSet`.
#[must_use = "a run does nothing until it is awaited, or called if it is blocking"]
pub struct Run<'p, O, T, E, const RULED: bool = false, C = Cut, X = ByDisplay, R = NoRules>(
    RunOfAny<'p, O, T, E, C, X, R>,
);

/// A run, behind `Deref`. Method lookup finds its `when` if the error type is not known to be [`Retryable`], as it finds
/// the levels of `crate::lookup`.
#[doc(hidden)]
pub struct RunOfAny<'p, O, T, E, C, X, R> {
    /// What the loop needs, the rules, and what makes the text of an error. `None` after the first poll.
    parts: Cell<Option<PartsAndRules<'p, O, E, R, X>>>,
    running: Option<BoxedFuture<'p, Result<T, E>>>,
    cuts: PhantomData<fn() -> C>,
}

type PartsAndRules<'p, O, E, R, X> = (RunParts<'p, O, E>, R, X);
type BoxedFuture<'p, R> = Pin<Box<dyn Future<Output = R> + Send + 'p>>;

impl<O, T, E, C> Run<'_, O, T, E, false, C> {
    #[track_caller]
    fn of(policy: Policy, operation: O, stopped: fn(Stopped) -> E) -> Self {
        Self::at(Location::caller(), policy, operation, stopped)
    }

    /// A run with the name and the default budget of this place in the source.
    pub(crate) fn at(
        place: &'static Location<'static>,
        policy: Policy,
        operation: O,
        stopped: fn(Stopped) -> E,
    ) -> Self {
        let parts = RunParts {
            settings: SiteSettings::at(place, policy),
            delays: None,
            operation,
            cancel: None,
            stopped,
        };
        Self(RunOfAny {
            parts: Cell::new(Some((parts, NoRules, ByDisplay))),
            running: None,
            cuts: PhantomData,
        })
    }
}

impl<'p, O, T, E, const RULED: bool, C, X, R> Run<'p, O, T, E, RULED, C, X, R>
where
    E: Retryable,
    R: RunRules<T, E>,
{
    /// Retries only the errors for which `when` returns true. With [`on`](Self::on), both must select the error. Its hint,
    /// such as `Retry-After`, is followed, and its verdict sets the price of the retry.
    ///
    /// The error type can be any type. If it is not known to be [`Retryable`] where you write this, the error has no hint,
    /// and the verdict `unknown`. An example is a type parameter without that bound.
    pub fn when<P>(self, when: P) -> Run<'p, O, T, E, true, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&E) -> bool,
    {
        self.rule(when, |when, rule| match rule {
            Rule::WhenSaid(error) => Some(Said::of(*error)),
            Rule::When(error) => yes(!when(error)),
            _ => None,
        })
    }
}

impl<'p, O, T, E, C, X, R: RunRules<T, E>> RunOfAny<'p, O, T, E, C, X, R> {
    /// [`Run::when`] for an error type that is not known to be [`Retryable`].
    pub fn when<P>(&self, when: P) -> Run<'p, O, T, E, true, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&E) -> bool,
    {
        let run: Run<'p, O, T, E, false, C, X, R> = Run(Self {
            parts: Cell::new(self.parts.take()),
            running: None,
            cuts: PhantomData,
        });
        run.rule(when, |when, rule| {
            yes(matches!(rule, Rule::When(error) if !when(error)))
        })
    }
}

impl<'p, O, T, E, const RULED: bool, C, X, R: RunRules<T, E>> Run<'p, O, T, E, RULED, C, X, R> {
    /// Retries only the errors that are an `A`, or have an `A` among their sources. An `A` whose verdict is permanent
    /// is not retried. Nor is an error that holds a `COMMIT` that may have taken effect. Of several `on`, one must find
    /// an error.
    pub fn on<A>(self) -> Run<'p, O, T, E, true, C, X, AndRule<R, (), T, E>>
    where
        E: Chained,
        A: Error + Retryable + 'static,
    {
        self.rule((), |(), rule| match rule {
            Rule::On(error) => answer_of::<A>(error.link()),
            Rule::OnAny => yes(true),
            _ => None,
        })
    }

    /// The same as [`on`](Self::on), for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>` with an `A` inside.
    pub fn on_source<A>(self) -> Run<'p, O, T, E, true, C, X, AndRule<R, (), T, E>>
    where
        E: AsRef<dyn Error + Send + Sync>,
        A: Error + Retryable + 'static,
    {
        self.rule((), |(), rule| match rule {
            Rule::On(error) => answer_of::<A>(error.as_ref()),
            Rule::OnAny => yes(true),
            _ => None,
        })
    }

    /// Never retries the errors for which `veto` returns true, whatever the other rules decide. After a timeout, `veto`
    /// sees the error that the caller would get.
    pub fn unless<P>(self, veto: P) -> Run<'p, O, T, E, RULED, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&E) -> bool,
    {
        self.rule(veto, |veto, rule| {
            yes(matches!(rule, Rule::Unless(error) if veto(error)))
        })
    }

    /// Waits exactly as long as `delay` says after an error, without jitter, if it returns a duration. For `None`, the delay is
    /// that of the policy. One above [`max_retry_after`](Policy::with_max_retry_after), or one that does not fit the deadline,
    /// ends the call. [`Attempt::current`](crate::Attempt::current) knows the attempt that failed. It is not asked after a
    /// timeout, or about an `Ok`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use std::time::Duration;
    ///
    /// use reattempt::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
    /// let began = tokio::time::Instant::now();
    /// let run = Policy::new().with_attempts(2).without_limits().run(async || Err::<(), _>("wait 3 s"));
    /// let run = run.when(|_| true).retry_after(|error| error.contains("3 s").then_some(Duration::from_secs(3)));
    /// run.await.unwrap_err();
    /// assert_eq!(began.elapsed(), Duration::from_secs(3));
    /// # }
    /// ```
    pub fn retry_after<P>(self, delay: P) -> Run<'p, O, T, E, RULED, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&E) -> Option<Duration>,
    {
        self.rule(delay, |delay, rule| match rule {
            Rule::RetryAfter(error) => {
                let hint = Some(delay(error)?);
                Some(Said {
                    hint,
                    ..Said::UNKNOWN
                })
            }
            _ => None,
        })
    }

    /// Retries an `Ok` for which `when_ok` returns true, such as a response that means failure. If no retry is left, the
    /// call returns that `Ok`; with [`until`](Self::until) it does not. The error type still decides about errors, unless
    /// `on` or `when` does.
    ///
    /// It may also return a pair, `(bool, Option<Duration>)`: the second part is a hint, the delay that the `Ok` asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use std::io;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use reattempt::FAST_IO;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let calls = AtomicUsize::new(0);
    /// let replies = [503, 503, 200];
    /// let status = async || io::Result::Ok(replies[calls.fetch_add(1, Ordering::Relaxed)]);
    /// assert_eq!(FAST_IO.run(status).when_ok(|status| *status >= 500).await?, 200);
    /// # Ok(()) }
    /// ```
    pub fn when_ok<P, A>(self, when_ok: P) -> Run<'p, O, T, E, RULED, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&T) -> A,
        A: OkAnswer,
    {
        self.rule(when_ok, |when_ok, rule| match rule {
            Rule::WhenOk(value) => failure(when_ok(value), true),
            _ => None,
        })
    }

    /// Waits until an `Ok` is ready: retries each `Ok` for which `is_ready` returns false, such as the status of a job that
    /// still runs. The call never returns such an `Ok`. If no retry is left, it ends with a [`Stopped`] that has the
    /// outcome. The error type still decides about errors, unless `on` or `when` does. Of several `until`, each must return
    /// true.
    ///
    /// It may also return a pair, `(bool, Option<Duration>)`: the second part is a hint, the delay that the `Ok` asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use std::io;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use reattempt::FAST_IO;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let polls = AtomicU32::new(0);
    /// let done = async || io::Result::Ok(polls.fetch_add(1, Ordering::Relaxed));
    /// assert_eq!(FAST_IO.run(done).until(|done| *done == 2).await?, 2);
    ///
    /// let error = FAST_IO.run(async || io::Result::Ok("running")).until(|status| *status == "done").await.unwrap_err();
    /// assert!(error.to_string().starts_with("not ready: attempts_exhausted (3 attempts, "));
    /// # Ok(()) }
    /// ```
    pub fn until<P, A>(self, is_ready: P) -> Run<'p, O, T, E, RULED, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&T) -> A,
        A: OkAnswer,
        C: CanBeUnready,
    {
        self.rule(is_ready, |is_ready, rule| match rule {
            Rule::Until(value) => failure(is_ready(value), false),
            _ => None,
        })
    }

    /// Stops the call when the future `cancel` completes. The call then ends with a [`Stopped`] whose
    /// outcome is [`Outcome::Cancelled`](crate::Outcome::Cancelled).
    pub fn with_cancel<'b, F>(self, cancel: F) -> Run<'b, O, T, E, RULED, C, X, R>
    where
        'p: 'b,
        F: IntoFuture<IntoFuture: Send + 'b>,
        C: CanCancel,
    {
        self.cancelled_by(cancel, true)
    }

    /// Stops the call when the future `cancel` completes, but lets an attempt that runs end by itself: it makes no other attempt
    /// and ends a wait. If that attempt fails, and would be retried, the call ends as with [`with_cancel`](Self::with_cancel).
    pub fn with_cancel_waits<'b, F>(self, cancel: F) -> Run<'b, O, T, E, RULED, C, X, R>
    where
        'p: 'b,
        F: IntoFuture<IntoFuture: Send + 'b>,
        C: CanCancel,
    {
        self.cancelled_by(cancel, false)
    }

    /// Calls `hook` for each retry, before the wait. Of several hooks, each is called.
    ///
    /// For an `Ok` that counts as a failure, the event carries neither an error nor the value: one function can then be the hook of calls with
    /// different results. [`when_ok`](Self::when_ok) and [`until`](Self::until) have seen the `Ok` just before.
    pub fn on_retry<P>(self, hook: P) -> Run<'p, O, T, E, RULED, C, X, AndRule<R, P, T, E>>
    where
        P: FnMut(&RetryEvent<'_, E>),
    {
        let heard = self.change(|parts| parts.settings = parts.settings.with_listener());
        heard.rule(hook, |hook, rule| {
            if let Rule::OnRetry(event) = rule {
                hook(event);
            }
            None
        })
    }

    /// Sets the delays, of which the run keeps a copy: a slice, an array or a `Vec`. There is one attempt more than
    /// there are delays, and no jitter, as with [`Policy::with_delays`]. Default: the delays of the policy.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// # use std::io;
    /// use std::time::Duration;
    ///
    /// use reattempt::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let delays: Vec<_> = (1..=5).map(|n| Duration::from_millis(50 * n * n)).collect();
    /// let run = Policy::new().run(async || io::Result::Ok(7)).with_delays(&delays);
    /// assert_eq!(run.await?, 7);
    /// # Ok(()) }
    /// ```
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is computed for one run is given away"
    )]
    pub fn with_delays<D: DelaysOf>(self, delays: D) -> Self {
        self.change(|parts| parts.delays = Some(delays.delays().to_vec()))
    }

    /// Sets the budget that bounds the retries: a [`Budget`](crate::Budget), also in an `Arc` or an `Option`. Default:
    /// that of the policy. If the policy names none, one for each place in the source that calls [`Policy::run`], and
    /// none if the attempts are unlimited.
    pub fn with_budget<'b, B>(self, budget: &'b B) -> Run<'b, O, T, E, RULED, C, X, R>
    where
        'p: 'b,
        B: BudgetOf + ?Sized,
    {
        self.change(|parts| parts.settings = parts.settings.with_budget(budget.budget()))
    }

    /// Retries without a budget. Nothing then bounds the load that retries add.
    pub fn without_budget(self) -> Self {
        self.change(|parts| parts.settings = parts.settings.with_budget(None))
    }

    /// Sets whether the operation may run twice. With `false`, only errors with the verdict
    /// [`Refused`](crate::Verdict::Refused) or [`Conflict`](crate::Verdict::Conflict) are retried, and timeouts are not.
    /// Default: true.
    pub fn with_idempotent(self, idempotent: bool) -> Self {
        self.change(|parts| parts.settings = parts.settings.with_idempotent(idempotent))
    }

    /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`, and out of a
    /// [`RetryEvent`] that is shown. Set it if the text may contain a secret, such as a password in a URL. Hooks still get the
    /// error itself. Default: false.
    pub fn with_sensitive(self, sensitive: bool) -> Self {
        self.change(|parts| parts.settings = parts.settings.with_sensitive(sensitive))
    }

    /// Sets how events get the text of an error, for an error type without `Display`:
    /// `with_text(|error| format!("{error:?}"))`. The function cannot capture variables. Default: `Display`.
    pub fn with_text(self, text: fn(&E) -> String) -> Run<'p, O, T, E, RULED, C, ByFunction<E>, R> {
        self.replace(|parts, rules, _| (parts, rules, ByFunction(text)))
    }

    /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`Policy::run`]. Within
    /// another call, runs of one place with different names are different operations: retries of one take no attempts from
    /// another.
    pub fn with_name(self, name: &'static str) -> Self {
        self.change(|parts| parts.settings = parts.settings.with_name(name))
    }

    fn cancelled_by<'b, F>(self, cancel: F, cuts: bool) -> Run<'b, O, T, E, RULED, C, X, R>
    where
        'p: 'b,
        F: IntoFuture<IntoFuture: Send + 'b>,
    {
        let cancel = cancel.into_future();
        let cancel = Box::pin(Signal::new(cancel));
        self.change(|parts| parts.cancel = Some((cancel, cuts)))
    }

    fn rule<P, const NOW: bool>(
        self,
        written: P,
        ask: AskRule<P, T, E>,
    ) -> Run<'p, O, T, E, NOW, C, X, AndRule<R, P, T, E>> {
        self.replace(|parts, rules, text| {
            let rules = AndRule {
                rules,
                written,
                ask,
            };
            (parts, rules, text)
        })
    }

    fn change<'b>(
        self,
        change: impl FnOnce(&mut RunParts<'b, O, E>),
    ) -> Run<'b, O, T, E, RULED, C, X, R>
    where
        'p: 'b,
    {
        self.replace(|mut parts, rules, text| {
            change(&mut parts);
            (parts, rules, text)
        })
    }

    /// Does nothing to a `Run` that was polled before.
    fn replace<'b, const NOW: bool, Y, S>(
        self,
        replace: impl FnOnce(RunParts<'b, O, E>, R, X) -> PartsAndRules<'b, O, E, S, Y>,
    ) -> Run<'b, O, T, E, NOW, C, Y, S>
    where
        'p: 'b,
    {
        let parts = self.0.parts.into_inner();
        Run(RunOfAny {
            parts: Cell::new(parts.map(|(parts, rules, text)| replace(parts, rules, text))),
            running: self.0.running,
            cuts: PhantomData,
        })
    }

    fn take(&mut self, judge: Judge<R, E>) -> (RunParts<'p, O, E>, Decides<E, R>)
    where
        X: MakesText<E>,
    {
        let (parts, rules, text) = self.0.parts.take().expect("`Run` was used before");
        let decides = Decides {
            rules,
            judge,
            text: text.function(),
            stopped: parts.stopped,
        };
        (parts, decides)
    }
}

/// `poll` moves the parts into a box before it pins anything of them.
impl<O, T, E, const RULED: bool, C, X, R> Unpin for Run<'_, O, T, E, RULED, C, X, R> {}

#[doc(hidden)]
impl<'p, O, T, E, const RULED: bool, C, X, R> Deref for Run<'p, O, T, E, RULED, C, X, R> {
    type Target = RunOfAny<'p, O, T, E, C, X, R>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<O, T, E, const RULED: bool, C, X, R> fmt::Debug for Run<'_, O, T, E, RULED, C, X, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.parts.take();
        let settings = parts.as_ref().map(|(parts, ..)| &parts.settings);
        let written = f
            .debug_struct("Run")
            .field("settings", &settings)
            .finish_non_exhaustive();
        self.0.parts.set(parts);
        written
    }
}

opaque! { RunOfAny [O, T, E, C, X, R] ['_, O, T, E, C, X, R]; }
