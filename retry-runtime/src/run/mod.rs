//! Retries without the attribute, for closures and blocks.
//!
//! ```text
//! entries, without_limits (where a run begins)
//!   ->  mod (what a caller sets)
//!   ->  drive (the loops)
//!   ->  rules (which errors, and the hooks)
//!   ->  state (what rustc infers), ends (the error of the call)
//! ```

mod drive;
mod ends;
mod entries;
mod rules;
mod state;
mod without_limits;

use std::error::Error as StdError;
use std::future::pending;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::Location;
use std::time::Duration;

use pin_project_lite::pin_project;

use self::drive::{BoxedRun, RunParts};
pub use self::ends::{HoldsStopped, MayStop};
use self::rules::RunRules;
pub use self::state::{Beside, ByOn, ByType, ByVerdict, HasSources, Judged, Known, RunState, Runs};
pub use self::without_limits::WithoutLimits;
use crate::call::Cancels;
use crate::classify::{Answers, Assessment, OkAnswer, Retryable, VerdictAnswer};
use crate::event::RetryEvent;
use crate::lookup::find_in;
use crate::opaque::opaque;
use crate::policy::Policy;
use crate::site::{BudgetOf, SiteSettings};

pin_project! {
    /// An operation with retries: the future that [`Policy::run`] returns, or the call that [`Policy::run_blocking`]
    /// prepares.
    ///
    /// Its rules and its hook have the names of the attribute's keys, such as [`on`](Self::on), [`until`](Self::until) and
    /// [`on_retry`](Self::on_retry). A method that sets a value begins with `with_`, as those of [`Policy`] do.
    ///
    /// You need not write the parameters. `S` is what rustc infers of the policy, the rules and the error of the call.
    ///
    /// Rules and hooks are boxed, and must be `Send`. To apply one conditionally, test the condition inside its closure. The first
    /// poll boxes the operation, which must be `Send` too. [`unboxed`](Self::unboxed) does neither box the operation nor require
    /// that: it may then use a `Cell` or an `Rc`, as in a test or on a `LocalSet`.
    #[must_use = "a run does nothing until it is awaited, or called if it is blocking"]
    pub struct Run<'p, O, T, E, S: RunState> {
        // `None` after the first poll.
        parts: Option<RunParts<'p, O, T, E>>,
        running: Option<BoxedRun<'p, T, S::Ended>>,
        // What is polled is pinned, so no method, which takes it by value, sees a run that began.
        #[pin]
        pinned: PhantomPinned,
        state: PhantomData<S>,
    }
}

impl<O, T, E, S: RunState> Run<'_, O, T, E, S> {
    /// A run with the name and the default budget of this place in the source.
    pub(crate) fn at(place: &'static Location<'static>, policy: Policy, operation: O) -> Self {
        Self::new(RunParts {
            settings: SiteSettings::at(place, policy),
            operation,
            rules: RunRules {
                on: Vec::new(),
                when: Vec::new(),
                verdict: None,
                unless: Vec::new(),
                retry_after: Vec::new(),
                until: Vec::new(),
                when_ok: Vec::new(),
                on_retry: Vec::new(),
            },
            // It has no size, so this does not allocate.
            cancel: Box::pin(pending()),
        })
    }
}

impl<'p, O, T, E, S: RunState> Run<'p, O, T, E, S> {
    fn new(parts: RunParts<'p, O, T, E>) -> Self {
        Self {
            parts: Some(parts),
            running: None,
            pinned: PhantomPinned,
            state: PhantomData,
        }
    }

    fn into_parts(self) -> RunParts<'p, O, T, E> {
        self.parts.expect("a run that was polled is pinned")
    }

    fn change<N: RunState>(
        self,
        change: impl FnOnce(&mut RunParts<'p, O, T, E>),
    ) -> Run<'p, O, T, E, N> {
        let mut parts = self.into_parts();
        change(&mut parts);
        Run::new(parts)
    }

    /// Retries only the errors for which `when` returns true. With [`on`](Self::on), both must select the error. Its hint,
    /// such as `Retry-After`, is followed, and its verdict sets the price of the retry.
    ///
    /// The error type is [`Retryable`], or [`verdict`](Self::verdict) or `on` stands before this. For any other, write `run!`.
    pub fn when<P>(self, when: P) -> Self
    where
        P: Answers<E, bool> + Send + 'p,
        E: Judged<S::By>,
    {
        self.change(|parts| parts.rules.when.push(Box::new(when)))
    }

    /// Never retries the errors for which `veto` returns true, whatever the other rules decide. After a timeout, `veto`
    /// sees the error that the caller would get, unless that is an [`Error::Stopped`](crate::Error::Stopped).
    pub fn unless<P>(self, veto: P) -> Self
    where
        P: Answers<E, bool> + Send + 'p,
    {
        self.change(|parts| parts.rules.unless.push(Box::new(veto)))
    }

    /// Waits exactly as long as `delay` says after an error, without jitter, if it returns a duration. For `None`, the delay is
    /// that of the policy. One above [`max_retry_after`](Policy::with_max_retry_after), or one that does not fit the deadline,
    /// ends the call. [`Attempt::current`](crate::Attempt::current) knows the attempt that failed. It is not asked after a
    /// timeout, or about an `Ok`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use std::time::Duration;
    ///
    /// use reattempt::{Policy, Verdict};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
    /// let began = tokio::time::Instant::now();
    /// let run = Policy::new().with_attempts(2).without_limits().run(async || Err::<(), _>("wait 3 s"));
    /// let run = run.verdict(|_| Verdict::Transient).retry_after(|error| error.contains("3 s").then_some(Duration::from_secs(3)));
    /// run.await.unwrap_err();
    /// assert_eq!(began.elapsed(), Duration::from_secs(3));
    /// # }
    /// ```
    pub fn retry_after<P>(self, delay: P) -> Self
    where
        P: Answers<E, Option<Duration>> + Send + 'p,
    {
        self.change(|parts| parts.rules.retry_after.push(Box::new(delay)))
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
    /// # use reattempt_runtime as reattempt;
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
    pub fn when_ok<P, A>(self, mut when_ok: P) -> Self
    where
        P: FnMut(&T) -> A + Send + 'p,
        A: OkAnswer,
    {
        let when_ok = move |value: &T| when_ok(value).into_parts();
        self.change(|parts| parts.rules.when_ok.push(Box::new(when_ok)))
    }

    /// Calls `hook` for each retry, before the wait. Of several hooks, each is called.
    ///
    /// For an `Ok` that counts as a failure, the event carries neither an error nor the value: one function can then be the hook of calls with
    /// different results. [`when_ok`](Self::when_ok) and [`until`](Run::until) have seen the `Ok` just before.
    pub fn on_retry<P>(self, hook: P) -> Self
    where
        P: for<'e> Answers<RetryEvent<'e, E>> + Send + 'p,
    {
        self.change(|parts| {
            parts.settings = parts.settings.clone().with_listener();
            parts.rules.on_retry.push(Box::new(hook));
        })
    }

    /// Sets the budget that bounds the retries: a [`Budget`](crate::Budget), also in an `Arc` or an `Option`. Default:
    /// that of the policy. If the policy names none, one for each place in the source that calls [`Policy::run`], and
    /// none if the attempts are unlimited.
    pub fn with_budget<B: BudgetOf + ?Sized>(self, budget: &'p B) -> Self {
        self.change(|parts| parts.settings = parts.settings.clone().with_budget(budget.budget()))
    }

    /// Retries without a budget. Nothing then bounds the load that retries add.
    pub fn without_budget(self) -> Self {
        self.change(|parts| parts.settings = parts.settings.clone().with_budget(None))
    }

    /// Says whether the operation may run twice. With `false`, only errors with the verdict
    /// [`Refused`](crate::Verdict::Refused) or [`Conflict`](crate::Verdict::Conflict) are retried, and timeouts are not. With `true`,
    /// errors with the verdict [`Unknown`](crate::Verdict::Unknown) are retried too, unless `on` or `when` decides, and so is an
    /// operation in which a `commit` may have taken effect. Default: neither.
    pub fn with_idempotent(self, idempotent: bool) -> Self {
        self.change(|parts| parts.settings = parts.settings.clone().with_idempotent(idempotent))
    }

    /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`Policy::run`]. Within
    /// another call, runs of one place with different names are different operations: retries of one take no attempts from
    /// another.
    pub fn with_name(self, name: &'static str) -> Self {
        self.change(|parts| parts.settings = parts.settings.clone().with_name(name))
    }

    /// Waits until an `Ok` is ready: retries each `Ok` for which `is_ready` returns false, such as the status of a job that
    /// still runs. The call never returns such an `Ok`. If no retry is left, it ends with a [`Stopped`](crate::Stopped) that has
    /// the outcome. The error type still decides about errors, unless `on` or `when` does. Of several `until`, each must return
    /// true.
    ///
    /// It may also return a pair, `(bool, Option<Duration>)`: the second part is a hint, the delay that the `Ok` asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
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
    pub fn until<P, A>(self, mut is_ready: P) -> Self
    where
        P: FnMut(&T) -> A + Send + 'p,
        A: OkAnswer,
        S::Policy: MayStop,
    {
        let until = move |value: &T| is_ready(value).into_parts();
        self.change(|parts| parts.rules.until.push(Box::new(until)))
    }

    /// Stops the call when the future `cancel` completes. The call then ends with a [`Stopped`](crate::Stopped) whose
    /// outcome is [`Outcome::Cancelled`](crate::Outcome::Cancelled).
    ///
    /// Nothing can stop a closure that blocks its thread, so the operation has to be async.
    pub fn with_cancel<F, C, A>(self, cancel: F) -> Self
    where
        F: Cancels<C>,
        C: Send + 'p,
        O: FnMut() -> A,
        A: Future,
        S::Policy: MayStop,
    {
        self.change(|parts| parts.cancel = Box::pin(cancel.into_future()))
    }
}

impl<'p, O, T, E, C, V, W, X> Run<'p, O, T, E, Known<C, V, W, X>> {
    /// Gives the errors a verdict, in place of their own: for an error type of another crate that has none, or another one.
    /// Without `on` and `when`, the verdict decides. With [`when`](Self::when), it sets the price of the retry. Beside
    /// [`on`](Self::on), whose errors have their own, it does not compile. Of several verdicts, the last one counts.
    ///
    /// It may also return a pair, `(Verdict, Option<Duration>)`: the second part is a hint, the delay that the error asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::{Policy, Verdict};
    /// # #[derive(Debug)] struct Nats(&'static str); // of another crate
    /// # impl std::fmt::Display for Nats {
    /// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.0) }
    /// # }
    ///
    /// fn of_nats(error: &Nats) -> Verdict {
    ///     match error.0 {
    ///         "no responders" => Verdict::Refused,
    ///         _ => Verdict::Unknown,
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
    /// const POLICY: Policy = Policy::new();
    /// let mut answers = [Err(Nats("no responders")), Ok(7)].into_iter();
    /// let request = || std::future::ready(answers.next().unwrap());
    /// assert_eq!(POLICY.without_limits().run(request).verdict(of_nats).await.unwrap(), 7);
    /// # }
    /// ```
    pub fn verdict<P, A>(self, mut verdict: P) -> Run<'p, O, T, E, Known<C, ByVerdict, W, X>>
    where
        V: Beside<ByVerdict>,
        P: FnMut(&E) -> A + Send + 'p,
        A: VerdictAnswer,
    {
        let verdict = move |error: &E| verdict(error).into_assessment();
        self.change(|parts| parts.rules.verdict = Some(Box::new(verdict)))
    }

    /// Retries only the errors that are an `A`, or have an `A` among their sources. An `A` whose verdict is permanent
    /// is not retried. Nor, without [`with_idempotent(true)`](Self::with_idempotent), is an error that holds a `COMMIT` that may have
    /// taken effect, or the lost connection of a database, which may have been in one. Of several `on`, one must find an error.
    ///
    /// For an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `run!`.
    pub fn on<A>(self) -> Run<'p, O, T, E, Known<C, ByOn, W, X>>
    where
        V: Beside<ByOn>,
        A: StdError + Retryable + 'static,
        E: HasSources,
    {
        let find = |error: &E, harmless| find_in::<A>(error, harmless, Assessment::of);
        self.change(|parts| parts.rules.on.push(find))
    }
}

opaque! {
    Run [O, T, E, S: RunState] ['_, O, T, E, S];
}
