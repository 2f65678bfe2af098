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
pub use self::rules::{CanBeUnready, Chained};
use self::rules::{Rule, RunRules, answer_of};
pub use self::text::{ByDisplay, ByFunction, MakesText};
use self::turns::{Decides, RunParts};
pub use self::without_limits::WithoutLimits;
use crate::call::Cut;
use crate::classify::{Retryable, Said};
use crate::event::RetryEvent;
use crate::policy::Policy;
use crate::site::{BudgetOf, DelaysOf, Settings};
use crate::stopped::Stopped;

/// An operation with retries: the future that [`Policy::run`] returns, or the call that [`Policy::run_blocking`]
/// prepares.
///
/// Its rules and its hook have the names of the attribute's keys: [`on`](Self::on), [`when`](Self::when),
/// [`when_ok`](Self::when_ok), [`until`](Self::until), [`unless`](Self::unless), [`on_retry`](Self::on_retry). A method that sets a value
/// begins with `with_`, as those of [`Policy`] do. `RULED` says whether `on` or `when` selects the errors to retry; if
/// not, the error type has to be [`Retryable`]. `C` says whether a limit may cut an attempt, and `X` makes the text of
/// an error. You need not write these parameters.
///
/// The first poll boxes the operation, which must be `Send`. [`unboxed`](Self::unboxed) does not box it and does not
/// require `Send`.
#[must_use = "a run does nothing until it is awaited, or called if it is blocking"]
pub struct Run<'p, O, T, E, const RULED: bool = false, C = Cut, X = ByDisplay>(
    RunOfAny<'p, O, T, E, C, X>,
);

/// A run, behind `Deref`. Method lookup finds its `when` if the error type is not known to be [`Retryable`], as it finds
/// the levels of `crate::lookup`.
#[doc(hidden)]
pub struct RunOfAny<'p, O, T, E, C, X> {
    /// What the loop needs, and what makes the text of an error. `None` after the first poll.
    parts: Cell<Option<PartsAndText<'p, O, T, E, X>>>,
    running: Option<BoxedFuture<'p, Result<T, E>>>,
    cuts: PhantomData<fn() -> C>,
}

type PartsAndText<'p, O, T, E, X> = (RunParts<'p, O, T, E>, X);
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
            settings: Settings::at(place, policy),
            delays: None,
            operation,
            cancel: None,
            decides: Decides {
                rules: RunRules::default(),
                hook: None,
                stopped,
            },
        };
        Self(RunOfAny {
            parts: Cell::new(Some((parts, ByDisplay))),
            running: None,
            cuts: PhantomData,
        })
    }
}

impl<'p, O, T, E: Retryable, const RULED: bool, C, X> Run<'p, O, T, E, RULED, C, X> {
    /// Retries only the errors for which `when` returns true. With [`on`](Self::on), both must select the error. Its hint,
    /// such as `Retry-After`, is followed, and its verdict sets the price of the retry.
    ///
    /// The error type can be any type. If it is not known to be [`Retryable`] where you write this, the error has no hint,
    /// and the verdict `unknown`. An example is a type parameter without that bound.
    pub fn when<'b, P>(self, when: P) -> Run<'b, O, T, E, true, C, X>
    where
        'p: 'b,
        P: FnMut(&E) -> bool + Send + 'b,
    {
        self.rule(Rule::When(Box::new(when), Said::of))
    }
}

impl<'p, O, T, E, C, X> RunOfAny<'p, O, T, E, C, X> {
    /// [`Run::when`] for an error type that is not known to be [`Retryable`].
    pub fn when<'b, P>(&self, when: P) -> Run<'b, O, T, E, true, C, X>
    where
        'p: 'b,
        P: FnMut(&E) -> bool + Send + 'b,
    {
        let run: Run<'p, O, T, E, false, C, X> = Run(Self {
            parts: Cell::new(self.parts.take()),
            running: None,
            cuts: PhantomData,
        });
        run.rule(Rule::When(Box::new(when), |_| Said::UNKNOWN))
    }
}

impl<'p, O, T, E, const RULED: bool, C, X> Run<'p, O, T, E, RULED, C, X> {
    /// Retries only the errors that are an `A`, or have an `A` among their sources. An `A` whose verdict is permanent
    /// is not retried. Nor is an error that holds a `COMMIT` that may have taken effect. Of several `on`, one must find
    /// an error.
    pub fn on<A>(self) -> Run<'p, O, T, E, true, C, X>
    where
        E: Chained,
        A: Error + Retryable + 'static,
    {
        self.rule(Rule::On(|error| answer_of::<A>(error.link())))
    }

    /// The same as [`on`](Self::on), for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>` with an `A` inside.
    pub fn on_source<A>(self) -> Run<'p, O, T, E, true, C, X>
    where
        E: AsRef<dyn Error + Send + Sync>,
        A: Error + Retryable + 'static,
    {
        self.rule(Rule::On(|error| answer_of::<A>(error.as_ref())))
    }

    /// Never retries the errors for which `veto` returns true, whatever the other rules decide. After a timeout, `veto`
    /// sees the error that the caller would get.
    pub fn unless<'b, P>(self, veto: P) -> Run<'b, O, T, E, RULED, C, X>
    where
        'p: 'b,
        P: FnMut(&E) -> bool + Send + 'b,
    {
        self.rule(Rule::Unless(Box::new(veto)))
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
    pub fn retry_after<'b, P>(self, delay: P) -> Run<'b, O, T, E, RULED, C, X>
    where
        'p: 'b,
        P: FnMut(&E) -> Option<Duration> + Send + 'b,
    {
        self.rule(Rule::RetryAfter(Box::new(delay)))
    }

    /// Retries an `Ok` for which `when_ok` returns true, such as a response that means failure. If no retry is left, the
    /// call returns that `Ok`; with [`until`](Self::until) it does not. The error type still decides about errors, unless
    /// `on` or `when` does.
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
    pub fn when_ok<'b, P>(self, when_ok: P) -> Run<'b, O, T, E, RULED, C, X>
    where
        'p: 'b,
        P: FnMut(&T) -> bool + Send + 'b,
    {
        self.rule(Rule::WhenOk(Box::new(when_ok)))
    }

    /// Waits until an `Ok` is ready: retries each `Ok` for which `is_ready` returns false, such as the status of a job that
    /// still runs. The call never returns such an `Ok`. If no retry is left, it ends with a [`Stopped`] that has the
    /// outcome. The error type still decides about errors, unless `on` or `when` does. Of several `until`, each must return
    /// true.
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
    pub fn until<'b, P>(self, is_ready: P) -> Run<'b, O, T, E, RULED, C, X>
    where
        'p: 'b,
        P: FnMut(&T) -> bool + Send + 'b,
        C: CanBeUnready,
    {
        self.rule(Rule::Until(Box::new(is_ready)))
    }

    /// Stops the call when the future `cancel` completes. The call then ends with a [`Stopped`] whose
    /// outcome is [`Outcome::Cancelled`](crate::Outcome::Cancelled).
    pub fn with_cancel<'b, F>(self, cancel: F) -> Run<'b, O, T, E, RULED, C, X>
    where
        'p: 'b,
        F: IntoFuture<IntoFuture: Send + 'b>,
        C: CanCancel,
    {
        let cancel = cancel.into_future();
        self.change(|parts| parts.cancel = Some(Box::pin(async { drop(cancel.await) })))
    }

    /// Calls `hook` for each retry, before the wait.
    pub fn on_retry<'b, P>(self, hook: P) -> Run<'b, O, T, E, RULED, C, X>
    where
        'p: 'b,
        P: FnMut(&RetryEvent<'_, E>) + Send + 'b,
    {
        self.change(|parts| {
            parts.settings = parts.settings.with_listener();
            parts.decides.hook = Some(Box::new(hook));
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
    pub fn with_budget<'b, B>(self, budget: &'b B) -> Run<'b, O, T, E, RULED, C, X>
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

    /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`. Set it
    /// if the text may contain a secret, such as a password in a URL. Hooks still get the error itself. Default: false.
    pub fn with_sensitive(self, sensitive: bool) -> Self {
        self.change(|parts| parts.settings = parts.settings.with_sensitive(sensitive))
    }

    /// Sets how events get the text of an error, for an error type without `Display`:
    /// `with_text(|error| format!("{error:?}"))`. The function cannot capture variables. Default: `Display`.
    pub fn with_text(self, text: fn(&E) -> String) -> Run<'p, O, T, E, RULED, C, ByFunction<E>> {
        let parts = self.0.parts.into_inner();
        Run(RunOfAny {
            parts: Cell::new(parts.map(|(parts, _)| (parts, ByFunction(text)))),
            running: self.0.running,
            cuts: PhantomData,
        })
    }

    /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`Policy::run`]. Within
    /// another call, runs of one place with different names are different operations: retries of one take no attempts from
    /// another.
    pub fn with_name(self, name: &'static str) -> Self {
        self.change(|parts| parts.settings = parts.settings.with_name(name))
    }

    fn rule<'b, const NOW: bool>(self, rule: Rule<'b, T, E>) -> Run<'b, O, T, E, NOW, C, X>
    where
        'p: 'b,
    {
        self.change(|parts| parts.decides.rules.push(rule))
    }

    /// Does nothing to a `Run` that was polled before.
    fn change<'b, const NOW: bool>(
        self,
        change: impl FnOnce(&mut RunParts<'b, O, T, E>),
    ) -> Run<'b, O, T, E, NOW, C, X>
    where
        'p: 'b,
    {
        let mut parts: Option<PartsAndText<'b, O, T, E, X>> = self.0.parts.into_inner();
        if let Some((parts, _)) = &mut parts {
            change(parts);
        }
        Run(RunOfAny {
            parts: Cell::new(parts),
            running: self.0.running,
            cuts: PhantomData,
        })
    }

    fn take(&mut self) -> PartsAndText<'p, O, T, E, X> {
        self.0.parts.take().expect("`Run` was used before")
    }
}

/// `poll` moves the parts into a box before it pins anything of them.
impl<O, T, E, const RULED: bool, C, X> Unpin for Run<'_, O, T, E, RULED, C, X> {}

#[doc(hidden)]
impl<'p, O, T, E, const RULED: bool, C, X> Deref for Run<'p, O, T, E, RULED, C, X> {
    type Target = RunOfAny<'p, O, T, E, C, X>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<O, T, E, const RULED: bool, C, X> fmt::Debug for Run<'_, O, T, E, RULED, C, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.parts.take();
        let settings = parts.as_ref().map(|(parts, _)| &parts.settings);
        let written = f
            .debug_struct("Run")
            .field("settings", &settings)
            .finish_non_exhaustive();
        self.0.parts.set(parts);
        written
    }
}

impl<O, T, E, C, X> fmt::Debug for RunOfAny<'_, O, T, E, C, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOfAny").finish_non_exhaustive()
    }
}
