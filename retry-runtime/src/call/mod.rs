//! The loop of one call: attempt, ruling, wait. No other module uses timers.
//!
//! Generated code holds a [`Call`] and loops:
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
//! To follow a call, read these files in this order. They use limits.rs and timer.rs, and all of them use state.rs.
//! When the call ends, or is dropped, its state is dropped (close.rs).
//!
//! The path of a call that succeeds at once is inline and reads no clock. The code that follows a failure is `#[cold]`.
//! Most of it is not generic, so a program has it once, and not once for each annotated function.

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

    /// Begins a call with these settings.
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

    /// Returns where the last error is kept. If a later attempt is cut, it becomes the source of the [`Stopped`].
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

    /// Takes the result of `before_retry`. Returns its error, with which the call ends, or `None` to go on.
    pub fn prepared<E>(&self, prepared: impl Prepared<E>) -> Option<E> {
        let error = prepared.into_error();
        self.state.prepared(error.is_some());
        error
    }

    /// Returns the result of a call that failed.
    #[inline]
    pub fn err<R: ResultLike>(&self, error: R::Error) -> R {
        R::from_error(error)
    }
}

impl<'p> Call<'p, false> {
    /// Makes an attempt without limits.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> UnlimitedAttempt<'_, 'p, F> {
        UnlimitedAttempt::new(&mut self.state, body)
    }

    /// Runs `before_retry`.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Never> {
        Prepare::new(&mut self.state, body)
    }

    /// Never called: nothing cuts a function without limits.
    #[must_use]
    pub fn cut_between(&self, cut: Never) -> Never {
        cut
    }
}

impl<'p> Call<'p, true> {
    /// Makes an attempt, which the timeout and the deadline may cut.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> LimitedAttempt<'_, 'p, F> {
        LimitedAttempt::new(&mut self.state, body)
    }

    /// Runs `before_retry` within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Cut> {
        Prepare::new(&mut self.state, body)
    }

    /// Ends a call whose deadline was reached between two attempts.
    #[must_use]
    pub fn cut_between(&self, cut: Cut) -> Ending {
        self.state.cut_between(cut)
    }
}

/// For `Policy::run`, whose loop is written by hand.
impl Call<'_, true> {
    /// Ends a call that succeeded.
    pub(crate) fn succeeded(&self) {
        self.state.succeeded();
    }

    /// Decides what follows an attempt that returned an error. Returns when the next attempt begins, or `None` if the
    /// call ends.
    pub(crate) fn failed(&self, ruling: Ruling, words: &dyn Words) -> Option<Instant> {
        self.state.failed(ruling, words, true)
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or why the call ends.
    pub(crate) fn cut(&self, cut: Cut, vetoed: bool) -> Result<Instant, Ending> {
        self.state.cut(cut, vetoed)
    }
}

impl Call<'_, true> {
    /// Returns the [`Stopped`] of a call that ends with this timeout. `None` for other cuts.
    pub(crate) fn stopped_by(&self, cut: Cut) -> Option<Stopped> {
        (cut == Cut::Timeout).then(|| self.state.stopped(Outcome::Timeout))
    }
}
