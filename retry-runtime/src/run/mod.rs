//! Retries without the attribute, for closures and blocks.
//!
//! ```text
//! mod, choose (what can be set)  ->  drive (the loop)  ->  rules (which errors)
//! ```

mod choose;
mod drive;
mod rules;

use std::fmt;
use std::future::{Pending, pending};
use std::marker::PhantomData;
use std::panic::Location;

pub use self::drive::{Hook, Hooks, NoHook};
pub use self::rules::{
    Both, ByVerdict, Found, Itself, Never, On, Rule, Source, Veto, Vetoes, When,
};
#[cfg(doc)]
use crate::classify::Retryable;
use crate::event::RetryEvent;
use crate::policy::Policy;
use crate::result::FromStopped;
use crate::site::{BudgetOf, Settings};

impl Policy {
    /// Runs an operation with retries, without an attribute: `POLICY.run(|| async { … }).await`.
    ///
    /// The operation is called once for each attempt. Prefer the attribute where you write a function: it
    /// checks more at compile time, keeps the error of an earlier attempt as the source of a
    /// [`Stopped`](crate::Stopped), and costs less. Use `run` for closures, and for code you do not own.
    ///
    /// Which errors are retried is said by [`when`](Run::when), [`on`](Run::on) and [`unless`](Run::unless), as
    /// in the attribute. Without `when` and `on` the error type decides, through [`Retryable`]. The error type
    /// must be able to hold a [`Stopped`](crate::Stopped), since only the policy says whether there is a
    /// timeout or a deadline.
    ///
    /// Everything else is as with the attribute: limits, backoff, nested calls, events and reports. All calls made
    /// at one place in the source share a name (that place, unless [`name`](Run::name) sets another) and a
    /// default budget.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the attempt that is under way.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use std::io;
    ///
    /// use reattempt::FAST_IO;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let mut failures = 1;
    /// let text = FAST_IO
    ///     .run(|| {
    ///         let fails = failures > 0;
    ///         failures -= 1;
    ///         async move {
    ///             if fails {
    ///                 return Err(io::Error::from(io::ErrorKind::ConnectionReset));
    ///             }
    ///             Ok("second attempt")
    ///         }
    ///     })
    ///     .name("greeting")
    ///     .await?;
    /// assert_eq!(text, "second attempt");
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn run<O, F, T, E, M>(&self, operation: O) -> Run<'static, O, M>
    where
        O: FnMut() -> F,
        F: Future<Output = Result<T, E>>,
        E: FromStopped<M>,
    {
        Run {
            settings: Settings::at(Location::caller(), *self),
            operation,
            rule: ByVerdict,
            veto: Never,
            cancel: pending(),
            hook: NoHook,
            stops: PhantomData,
        }
    }
}

/// An operation with retries, to be awaited: what [`Policy::run`] gives.
///
/// Awaiting it boxes the future, which must be `Send`; [`unboxed`](Self::unboxed) does neither.
#[must_use = "nothing runs unless it is awaited"]
pub struct Run<'p, O, M, R = ByVerdict, V = Never, C = Pending<()>, H = NoHook> {
    settings: Settings<'p>,
    operation: O,
    rule: R,
    veto: V,
    cancel: C,
    hook: H,
    /// How the error type holds a `Stopped`.
    stops: PhantomData<fn() -> M>,
}

impl<'p, O, M, R, V, C, H> Run<'p, O, M, R, V, C, H> {
    /// Never retries the errors for which `veto` returns true, whatever the other rules say. It is also asked
    /// about the error that a timeout would give.
    pub fn unless<F, T, E, P>(self, veto: P) -> Run<'p, O, M, R, Veto<P>, C, H>
    where
        O: FnMut() -> F,
        F: Future<Output = Result<T, E>>,
        P: FnMut(&E) -> bool,
    {
        let Self {
            settings,
            operation,
            rule,
            cancel,
            hook,
            stops,
            ..
        } = self;
        let veto = Veto(veto);
        Run {
            settings,
            operation,
            rule,
            veto,
            cancel,
            hook,
            stops,
        }
    }

    /// Stops the call when `cancel` completes. The call then ends with a [`Stopped`](crate::Stopped) of
    /// [`Outcome::Cancelled`](crate::Outcome::Cancelled).
    pub fn cancel<D: IntoFuture>(self, cancel: D) -> Run<'p, O, M, R, V, D::IntoFuture, H> {
        let Self {
            settings,
            operation,
            rule,
            veto,
            hook,
            stops,
            ..
        } = self;
        let cancel = cancel.into_future();
        Run {
            settings,
            operation,
            rule,
            veto,
            cancel,
            hook,
            stops,
        }
    }

    /// Tells `hook` of each retry, before the wait.
    pub fn on_retry<F, T, E, P>(self, hook: P) -> Run<'p, O, M, R, V, C, Hook<P>>
    where
        O: FnMut() -> F,
        F: Future<Output = Result<T, E>>,
        P: FnMut(&RetryEvent<'_, E>),
    {
        let Self {
            settings,
            operation,
            rule,
            veto,
            cancel,
            stops,
            ..
        } = self;
        let (settings, hook) = (settings.with_listener(), Hook(hook));
        Run {
            settings,
            operation,
            rule,
            veto,
            cancel,
            hook,
            stops,
        }
    }

    /// Bounds the retries by this budget: a [`Budget`](crate::Budget), or one in an `Arc` or an `Option`.
    /// Default: one for each place in the source that calls [`Policy::run`], and none with unlimited attempts.
    pub fn budget<'b, B>(self, budget: &'b B) -> Run<'b, O, M, R, V, C, H>
    where
        B: BudgetOf + ?Sized,
        'p: 'b,
    {
        let Self {
            settings,
            operation,
            rule,
            veto,
            cancel,
            hook,
            stops,
        } = self;
        let settings = settings.with_budget(budget.budget());
        Run {
            settings,
            operation,
            rule,
            veto,
            cancel,
            hook,
            stops,
        }
    }

    /// Retries whatever that costs the service which is called.
    pub fn without_budget(mut self) -> Self {
        self.settings = self.settings.with_budget(None);
        self
    }

    /// Says whether an attempt may run twice. With `false`, only errors that say the attempt never ran are
    /// retried. Default: true.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.settings = self.settings.with_idempotent(idempotent);
        self
    }

    /// Keeps the text of errors out of events and spans: their field `error` says `(sensitive)`. Use it where that
    /// text may hold a secret, such as a password in a URL. Hooks still get the error itself.
    pub fn sensitive(mut self) -> Self {
        self.settings = self.settings.with_sensitive();
        self
    }

    /// Sets the name in events and reports. Default: file, line and column of the call of [`Policy::run`].
    pub fn name(mut self, name: &'static str) -> Self {
        self.settings = self.settings.with_name(name);
        self
    }
}

impl<O, M, R, V, C, H> fmt::Debug for Run<'_, O, M, R, V, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
