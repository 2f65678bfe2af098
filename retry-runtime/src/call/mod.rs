//! The state machine of one call: attempt, verdict, wait. The only place that touches timers.
//!
//! Generated code holds a [`Call`] and turns in a loop:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;                       // attempt.rs
//!     let at = match call.settle(ended, &mut kept, |error| …) {                        // settled.rs
//!         Ok(at) => at,
//!         Err(result) => return result,
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
mod checked;
mod close;
pub mod drive;
mod ended;
mod failed;
mod kept_error;
mod limits;
mod on_end;
mod prepare;
mod schedule;
mod settle;
mod settled;
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
pub use self::checked::{Check, Checked, Checks};
pub use self::ended::{Cut, Cuts, Ended, Ending, Never};
pub use self::failed::{Failed, NotKept};
pub use self::kept_error::{Forgets, Keeper, Keeps, Kept, LastError, NoKeeper, Nothing, Remembers};
pub use self::on_end::OnEnd;
pub use self::prepare::Prepare;
pub use self::settled::Next;
pub use self::wait::Wait;

use tokio::time::Instant;

use self::state::State;
use crate::classify::Ruling;
use crate::context::NEVER;
use crate::explain::Words;
use crate::result::{Prepared, ResultLike};
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

    /// Gives the place for an error that a later attempt may need as the cause of a [`Stopped`].
    #[inline]
    #[must_use]
    pub fn keeper(&self) -> Keeper<LIMITED> {
        Keeper(NoKeeper)
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

    /// The result of a call that failed.
    #[inline]
    pub fn err<R: ResultLike>(&self, error: R::Error) -> R {
        R::from_error(error)
    }
}

impl<'p> Call<'p, false> {
    /// Makes an attempt that nothing cuts.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> UnlimitedAttempt<'_, 'p, F> {
        UnlimitedAttempt::new(&mut self.state, body)
    }

    /// Runs what goes before a retry.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Never> {
        Prepare::new(&mut self.state, body)
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

    /// Runs what goes before a retry, within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Cut> {
        Prepare::new(&mut self.state, body)
    }

    /// Ends a call whose deadline was reached between two attempts.
    #[must_use]
    pub fn cut_between(&self, cut: Cut) -> Ending {
        self.state.cut_between(cut)
    }
}

/// For a loop that is not made by the attribute (`run`).
impl Call<'_, true> {
    /// Takes note that the call succeeded.
    pub(crate) fn succeeded(&self) {
        self.state.succeeded();
    }

    /// Decides after an attempt that returned an error: when the next begins, or `None`.
    pub(crate) fn failed(&self, ruling: Ruling, words: &dyn Words) -> Option<Instant> {
        self.state.failed(ruling, words, true)
    }

    /// Decides after an attempt that was cut: gives when the next begins, or why the call ends.
    pub(crate) fn cut(&self, cut: Cut, vetoed: bool) -> Result<Instant, Ending> {
        self.state.cut(cut, vetoed)
    }
}

impl Call<'_, true> {
    /// How the call would be stopped by an attempt that reached its timeout.
    pub(crate) fn stopped_by(&self, cut: Cut) -> Option<Stopped> {
        (cut == Cut::Timeout).then(|| self.state.stopped(Outcome::Timeout))
    }
}
