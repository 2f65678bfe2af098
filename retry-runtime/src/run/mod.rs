//! Retries without the attribute, for closures and blocks.
//!
//! ```text
//! mod, choose (the setters)  ->  drive (the loop)  ->  rules (which errors)
//! ```

mod choose;
mod drive;
mod rules;

use std::fmt;
use std::future::{Pending, pending};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use self::drive::{Hook, Hooks, NoHook};
use self::drive::{OfError, RunParts};
pub use self::rules::{Both, ByVerdict, Chained, Finder, NoVeto, On, Rule, Veto, Vetoes, When};
#[cfg(doc)]
use crate::classify::Retryable;
use crate::event::RetryEvent;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::result::FromStopped;
use crate::site::{BudgetOf, Settings};

impl Policy {
    /// Runs an operation with retries, without an attribute: `POLICY.run(async || { … }).await`.
    ///
    /// The operation is called once for each attempt. Prefer the attribute when you write a function: it checks more at
    /// compile time, keeps the error of an earlier attempt as the source of a [`Stopped`](crate::Stopped), and costs
    /// less. Use `run` for closures, and for code that you do not own. Only the attribute has the keys `when_ok`,
    /// `before_retry` and `on_end`.
    ///
    /// [`when`](Run::when), [`on`](Run::on) and [`unless`](Run::unless) select the errors to retry, as in the
    /// attribute. Without `when` and `on`, the error type decides, through [`Retryable`]. The error type must be able
    /// to hold a [`Stopped`](crate::Stopped), because the policy may have a timeout or a deadline.
    ///
    /// Limits, backoff, nested calls, events and reports are those of an annotated function. All calls made at one
    /// place in the source share a name (that place, unless [`with_name`](Run::with_name) sets another) and a default
    /// budget.
    ///
    /// An `async` closure cannot change the variables that it captures. Use an atomic or a `Mutex` for that, or a
    /// closure that returns an `async move` block.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running attempt, or ends the wait.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use retry_runtime as reattempt;
    /// use reattempt::FAST_IO;
    /// # use tokio::{io::AsyncReadExt, net::TcpStream};
    ///
    /// # async fn example() -> std::io::Result<()> {
    /// let first = FAST_IO
    ///     .run(async || TcpStream::connect("10.0.0.7:6379").await?.read_u8().await)
    ///     .with_name("first byte")
    ///     .await?;
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn run<O, F, T, E, M>(&self, operation: O) -> Run<'static, O, T, E>
    where
        O: FnMut() -> F,
        F: Future<Output = Result<T, E>>,
        E: FromStopped<M> + fmt::Display,
    {
        Run {
            parts: Some(RunParts {
                settings: Settings::at(Location::caller(), *self),
                operation,
                rule: ByVerdict,
                veto: NoVeto,
                cancel: pending(),
                hook: NoHook,
                of_error: OfError {
                    stopped: E::from_stopped,
                    text: |error| format!("{error:#}"),
                },
            }),
            running: None,
        }
    }
}

impl Preset {
    /// Runs an operation with retries, without an attribute: [`Policy::run`] with the present [`policy`](Self::policy).
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use std::io;
    ///
    /// use reattempt::{Policy, Preset};
    ///
    /// static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_attempts(4));
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let paid = PAYMENTS.run(async || Ok::<_, io::Error>(12)).await?;
    /// assert_eq!(paid, 12);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn run<O, F, T, E, M>(&self, operation: O) -> Run<'static, O, T, E>
    where
        O: FnMut() -> F,
        F: Future<Output = Result<T, E>>,
        E: FromStopped<M> + fmt::Display,
    {
        self.policy().run(operation)
    }
}

/// An operation with retries: the future that [`Policy::run`] returns.
///
/// Its rules and its hook have the names of the attribute's keys: [`on`](Self::on), [`when`](Self::when),
/// [`unless`](Self::unless), [`on_retry`](Self::on_retry). A method that sets a value begins with `with_`, as those of
/// [`Policy`] do.
///
/// The first poll boxes the operation, which must be `Send`. [`unboxed`](Self::unboxed) does not box it and does not
/// require `Send`.
#[must_use = "futures do nothing unless polled"]
pub struct Run<'p, O, T, E, R = ByVerdict, V = NoVeto, C = Pending<()>, H = NoHook> {
    /// `None` after the first poll.
    parts: Option<RunParts<'p, O, E, R, V, C, H>>,
    running: Option<BoxedFuture<'p, Result<T, E>>>,
}

type BoxedFuture<'p, R> = Pin<Box<dyn Future<Output = R> + Send + 'p>>;

impl<'p, O, T, E, R, V, C, H> Run<'p, O, T, E, R, V, C, H> {
    /// Never retries the errors for which `veto` returns true, whatever the other rules decide. After a timeout, `veto`
    /// sees the error that the caller would get.
    pub fn unless<P>(self, veto: P) -> Run<'p, O, T, E, R, Veto<P>, C, H>
    where
        P: FnMut(&E) -> bool,
    {
        self.change(|parts| parts.with_veto(Veto(veto)))
    }

    /// Stops the call when the future `cancel` completes. The call then ends with a [`Stopped`](crate::Stopped) whose
    /// outcome is [`Outcome::Cancelled`](crate::Outcome::Cancelled).
    pub fn with_cancel<D: IntoFuture>(self, cancel: D) -> Run<'p, O, T, E, R, V, D::IntoFuture, H> {
        self.change(|parts| parts.with_cancel(cancel.into_future()))
    }

    /// Calls `hook` for each retry, before the wait.
    pub fn on_retry<P>(self, hook: P) -> Run<'p, O, T, E, R, V, C, Hook<P>>
    where
        P: FnMut(&RetryEvent<'_, E>),
    {
        self.set(Settings::with_listener)
            .change(|parts| parts.with_hook(Hook(hook)))
    }

    /// Sets the budget that bounds the retries: a [`Budget`](crate::Budget), also in an `Arc` or an `Option`. Default:
    /// one for each place in the source that calls [`Policy::run`], and none if the attempts are unlimited.
    pub fn with_budget<'b, B>(self, budget: &'b B) -> Run<'b, O, T, E, R, V, C, H>
    where
        B: BudgetOf + ?Sized,
        'p: 'b,
    {
        let run: Run<'b, O, T, E, R, V, C, H> = self;
        run.set(|settings| settings.with_budget(budget.budget()))
    }

    /// Retries without a budget. Nothing then bounds the load that retries add.
    pub fn without_budget(self) -> Self {
        self.set(|settings| settings.with_budget(None))
    }

    /// Sets whether the operation may run twice. With `false`, only errors with the verdict
    /// [`Refused`](crate::Verdict::Refused) are retried, and timeouts are not. Default: true.
    pub fn with_idempotent(self, idempotent: bool) -> Self {
        self.set(|settings| settings.with_idempotent(idempotent))
    }

    /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`. Set it
    /// if the text may contain a secret, such as a password in a URL. Hooks still get the error itself. Default: false.
    pub fn with_sensitive(self, sensitive: bool) -> Self {
        self.set(|settings| settings.with_sensitive(sensitive))
    }

    /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`Policy::run`].
    pub fn with_name(self, name: &'static str) -> Self {
        self.set(|settings| settings.with_name(name))
    }

    /// Runs the operation without a box. The future is `Send` if the operation, its futures, their results and the
    /// rules are.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
    ///
    /// # Panics
    ///
    /// - If the `Run` was polled before.
    pub async fn unboxed<F>(self) -> Result<T, E>
    where
        O: FnMut() -> F,
        F: Future<Output = Result<T, E>>,
        R: Rule<E>,
        V: Vetoes<E>,
        C: Future,
        H: Hooks<E>,
    {
        self.parts.expect("`Run` was polled before").drive().await
    }

    fn set(self, change: impl FnOnce(Settings<'p>) -> Settings<'p>) -> Self {
        self.change(|mut parts| {
            parts.settings = change(parts.settings);
            parts
        })
    }

    /// Does nothing to a `Run` that was polled before.
    fn change<S, W, D, I>(
        self,
        change: impl FnOnce(RunParts<'p, O, E, R, V, C, H>) -> RunParts<'p, O, E, S, W, D, I>,
    ) -> Run<'p, O, T, E, S, W, D, I> {
        Run {
            parts: self.parts.map(change),
            running: self.running,
        }
    }
}

impl<'p, O, F, T, E, R, V, C, H> Future for Run<'p, O, T, E, R, V, C, H>
where
    O: FnMut() -> F + Send + 'p,
    F: Future<Output = Result<T, E>> + Send + 'p,
    T: Send + 'p,
    E: Send + 'p,
    R: Rule<E> + Send + 'p,
    V: Vetoes<E> + Send + 'p,
    C: Future + Send + 'p,
    H: Hooks<E> + Send + 'p,
{
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(parts) = self.parts.take() {
            self.running = Some(Box::pin(parts.drive()));
        }
        let running = self.running.as_mut();
        running
            .expect("set by the first poll")
            .as_mut()
            .poll(context)
    }
}

/// `poll` moves the parts into a box before it pins anything of them.
impl<O, T, E, R, V, C, H> Unpin for Run<'_, O, T, E, R, V, C, H> {}

impl<O, T, E, R, V, C, H> fmt::Debug for Run<'_, O, T, E, R, V, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.parts.as_ref().map(|parts| &parts.settings);
        f.debug_struct("Run")
            .field("settings", &settings)
            .finish_non_exhaustive()
    }
}
