//! The state machine of one call: attempt, verdict, wait. The only place that touches timers.
//!
//! Generated code holds a [`Call`] and turns in a loop:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;                       // attempt.rs
//!     let at = match call.ended(ended) {
//!         Ok(value) => return call.succeeded(value),                        // settle.rs
//!         Err(Failed::Error(error)) => match call.failed(RULING, …) {       // settle.rs
//!             Some(at) => { kept.keep(error); at }                          // kept_error.rs
//!             None => return call.err(error),
//!         },
//!         Err(Failed::Cut(cut)) => match call.cut(cut, …) {
//!             Ok(at) => at,
//!             Err(ending) => return call.stopped(&mut kept, ending),
//!         },
//!     };
//!     call.wait(at).await;                                                  // wait.rs
//! }
//! ```
//!
//! Follow a call from here: attempt, settle and wait use limits and timer, and all of them the state. However
//! the call ends, its state is dropped (close.rs).
//! The happy path is inline and reads no clock. All that follows a failure is `#[cold]` and, where it
//! can be, not generic: it exists once, however many functions are annotated.

mod attempt;
mod blocking;
mod cancel;
mod close;
pub mod drive;
mod ended;
mod kept_error;
mod limits;
mod on_end;
mod prepare;
mod schedule;
mod settle;
#[cfg(feature = "tracing")]
mod spans;
#[cfg(not(feature = "tracing"))]
#[path = "no_spans.rs"]
mod spans;
mod state;
mod timer;
mod trial;
mod unconstrained;
mod wait;
mod worker;

pub use self::attempt::{LimitedAttempt, UnlimitedAttempt};
pub use self::cancel::{Cancels, Unless, unless};
pub use self::ended::{Cut, Cuts, Ending, Failed, Never};
pub use self::kept_error::{Forgets, KeptError, LastError, Remembers};
pub use self::on_end::OnEnd;
pub use self::prepare::Prepare;
pub use self::settle::{rule, tell};
pub use self::wait::Wait;

use tokio::time::Instant;

use self::state::State;
use crate::classify::Ruling;
use crate::context::NEVER;
use crate::event::RetryEvent;
use crate::explain::Words;
use crate::result::{FromStopped, Prepared, ResultLike};
use crate::site::{Settings, Site};
use crate::stopped::{Outcome, Stopped};

/// One call of an annotated function.
#[derive(Debug)]
pub struct Call<'p, const LIMITED: bool> {
    state: State<'p>,
}

impl<'p, const LIMITED: bool> Call<'p, LIMITED> {
    /// Begins a call with the function's own settings.
    #[inline]
    #[must_use]
    pub fn begin(site: &'p Site<LIMITED>) -> Self {
        Self::begin_with(site, site.settings())
    }

    /// Begins a call with settings made for it.
    #[inline]
    #[must_use]
    pub fn begin_with(_site: &Site<LIMITED>, settings: &'p Settings<'p>) -> Self {
        Self::with(settings)
    }

    /// Begins a call that goes by these settings.
    #[inline]
    pub(crate) fn with(settings: &'p Settings<'p>) -> Self {
        let (timeout, deadline) = if LIMITED {
            (settings.timeout(), settings.deadline())
        } else {
            (NEVER, NEVER)
        };
        Self {
            state: State::new(settings, timeout, deadline),
        }
    }

    /// Gives the place for an error that a later attempt may need as the cause of a
    /// [`Stopped`].
    #[inline]
    #[must_use]
    pub fn kept_error<E>(&self) -> KeptError<E, LIMITED> {
        KeptError::new()
    }

    /// The result of a call that succeeded.
    #[inline]
    pub fn succeeded<R: ResultLike>(&self, value: R::Value) -> R {
        self.state.succeeded();
        R::from_value(value)
    }

    /// The result of a call that ends with an `Ok` that means failure.
    #[inline]
    pub fn ok<R: ResultLike>(&self, value: R::Value) -> R {
        R::from_value(value)
    }

    /// The result of a call that failed.
    #[inline]
    pub fn err<R: ResultLike>(&self, error: R::Error) -> R {
        R::from_error(error)
    }

    /// Decides after an attempt that returned an error: when the next begins, or `None`. `words` puts the
    /// error into words.
    #[inline]
    #[must_use]
    pub fn failed(&self, ruling: Ruling, words: &dyn Words) -> Option<Instant> {
        self.state.failed(ruling, words, true)
    }

    /// The same after an `Ok` that means failure.
    #[must_use]
    pub fn failed_value(&self) -> Option<Instant> {
        let words = &"an `Ok` that means failure";
        self.state.failed(Ruling::failed_value(), words, false)
    }

    /// What `on_retry` is told.
    pub fn event<'a, E>(&self, error: Option<&'a E>) -> RetryEvent<'a, E> {
        self.state.event(error)
    }

    /// Waits for the next attempt.
    pub fn wait(&self, at: Instant) -> Wait {
        self.state.wait(at)
    }

    /// Ends a call whose `cancel` future completed.
    #[must_use]
    pub fn cancelled(&self) -> Ending {
        self.state.cancelled()
    }

    /// Gives the error with which the call ends after what went before a retry.
    pub fn prepared<E>(&self, prepared: impl Prepared<E>) -> Option<E> {
        let error = prepared.into_error();
        self.state.prepared(error.is_some());
        error
    }
}

impl<'p> Call<'p, false> {
    /// Makes an attempt that nothing cuts.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> UnlimitedAttempt<'_, 'p, F> {
        UnlimitedAttempt::new(&mut self.state, body)
    }

    /// How an attempt ended.
    #[inline]
    #[expect(clippy::missing_errors_doc, reason = "it is the attempt's own")]
    pub fn ended<R: ResultLike>(&self, ended: R) -> Result<R::Value, Failed<R::Error, Never>> {
        ended.into_result().map_err(Failed::Error)
    }

    /// Never comes to pass.
    #[expect(clippy::missing_errors_doc, reason = "it is never called")]
    pub fn cut(&self, cut: Never, _vetoed: bool) -> Result<Instant, Never> {
        Err(cut)
    }

    /// Runs what goes before a retry.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Never> {
        Prepare::new(&mut self.state, body)
    }

    /// Never comes to pass.
    pub fn stopped<K, R>(&self, _kept: &mut K, ending: Never) -> R {
        match ending {}
    }

    /// Never comes to pass.
    #[must_use]
    pub fn vetoes<E>(&self, cut: Never, _veto: impl FnOnce(&E) -> bool) -> bool {
        match cut {}
    }

    /// Never comes to pass.
    #[must_use]
    pub fn cut_between(&self, cut: Never) -> Never {
        cut
    }
}

impl<'p> Call<'p, true> {
    /// Makes an attempt that the timeout and the deadline cut.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> LimitedAttempt<'_, 'p, F> {
        LimitedAttempt::new(&mut self.state, body)
    }

    /// How an attempt ended.
    #[inline]
    #[expect(clippy::missing_errors_doc, reason = "it is the attempt's own")]
    pub fn ended<R: ResultLike>(
        &self,
        ended: Result<R, Cut>,
    ) -> Result<R::Value, Failed<R::Error, Cut>> {
        match ended {
            Ok(ended) => ended.into_result().map_err(Failed::Error),
            Err(cut) => Err(Failed::Cut(cut)),
        }
    }

    /// Decides after an attempt that was cut: another attempt, or why the call ends.
    ///
    /// # Errors
    ///
    /// - Why the call ends.
    #[inline]
    pub fn cut(&self, cut: Cut, vetoed: bool) -> Result<Instant, Ending> {
        self.state.cut(cut, vetoed)
    }

    /// The result of a call that was stopped.
    #[cold]
    pub fn stopped<R: ResultLike, M>(
        &self,
        kept: &mut impl LastError<R::Error>,
        ending: Ending,
    ) -> R
    where
        R::Error: FromStopped<M>,
    {
        R::from_error(kept.make_error(ending))
    }

    /// Runs what goes before a retry, within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Cut> {
        Prepare::new(&mut self.state, body)
    }

    /// Whether the rules forbid another attempt after this one, which reached its timeout: they are asked
    /// about the error that the caller would get.
    #[cold]
    pub fn vetoes<E: FromStopped<M>, M>(&self, cut: Cut, veto: impl FnOnce(&E) -> bool) -> bool {
        self.stopped_by(cut)
            .is_some_and(|stopped| veto(&E::from_stopped(stopped)))
    }

    /// How the call would be stopped by an attempt that reached its timeout.
    pub(crate) fn stopped_by(&self, cut: Cut) -> Option<Stopped> {
        (cut == Cut::Timeout).then(|| self.state.stopped(Outcome::Timeout))
    }

    /// Ends a call whose deadline was reached between two attempts.
    #[must_use]
    pub fn cut_between(&self, cut: Cut) -> Ending {
        self.state.cut_between(cut)
    }
}
