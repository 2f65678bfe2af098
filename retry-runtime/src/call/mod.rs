//! The loop of one call: attempt, ruling, wait. No other module uses timers.
//!
//! Generated code holds a [`Call`] and loops:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;                       // attempt.rs
//!     let at = match call.settle(ended, |error| …) {                        // settled.rs
//!         Ok(at) => at,
//!         Err(result) => return result,
//!     };
//!     call.wait(at).await;                                                  // wait.rs
//! }
//! ```
//!
//! To follow a call, read these files in this order. They use limits.rs and timer.rs, and all of them use state.rs.
//! Dropping the call closes it (close.rs).
//!
//! The path of a call that succeeds at once is inline and reads no clock. The code that follows a failure is `#[cold]`.
//! Most of it is not generic, so a program has it once, and not once for each annotated function.

mod attempt;
mod begin;
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
pub use self::kept_error::{Forgets, Keeps, Kept, LastError, Nothing, Remembers};
pub use self::on_end::OnEnd;
pub use self::prepare::Prepare;
pub use self::settled::Next;
pub use self::wait::Wait;

use std::fmt;
use std::mem::ManuallyDrop;

use tokio::time::Instant;

use self::state::State;
use crate::classify::Ruling;
use crate::context::NEVER;
use crate::explain::Words;
use crate::result::{Prepared, ResultLike};
use crate::site::Settings;
use crate::stopped::{Outcome, Stopped};

/// One call of an annotated function.
///
/// `K` is what it keeps of its last error. If a later attempt is cut, this becomes the source of the [`Stopped`].
// Both fields are dropped by hand, when the call is closed (close.rs). A call that succeeds at once has nothing in them
// to drop, and not to look saves 6 instructions of 170. With the state first, the call and its state have one address:
// one instruction less.
#[repr(C)]
pub struct Call<'p, const LIMITED: bool, K = Nothing> {
    state: ManuallyDrop<State<'p>>,
    kept: ManuallyDrop<Option<K>>,
}

impl<'p, const LIMITED: bool, K> Call<'p, LIMITED, K> {
    /// Begins a call with these settings.
    #[inline]
    pub(crate) fn with(settings: &'p Settings<'p>) -> Self {
        let (timeout, deadline) = if LIMITED {
            (settings.timeout(), settings.deadline())
        } else {
            (NEVER, NEVER)
        };
        Self {
            state: ManuallyDrop::new(State::new(settings, timeout, deadline)),
            kept: ManuallyDrop::new(None),
        }
    }

    /// Waits for the next attempt.
    pub fn wait(&self, at: Instant) -> Wait {
        self.state.wait(at)
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
}

impl<'p, K> Call<'p, true, K> {
    /// Makes an attempt, which the timeout and the deadline may cut.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> LimitedAttempt<'_, 'p, F> {
        LimitedAttempt::new(&mut self.state, body)
    }

    /// Runs `before_retry` within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, Cut> {
        Prepare::new(&mut self.state, body)
    }
}

/// For `Policy::run`, whose loop is written by hand.
impl Call<'_, true> {
    /// Ends a call that succeeded.
    pub(crate) fn succeeded(&self) {
        self.state.succeeded();
    }

    /// Ends a call whose `cancel` future completed.
    pub(crate) fn cancel(&self) -> Ending {
        self.state.cancelled()
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

impl<K> Call<'_, true, K> {
    /// Returns the [`Stopped`] of a call that ends with this timeout. `None` for other cuts.
    pub(crate) fn stopped_by(&self, cut: Cut) -> Option<Stopped> {
        (cut == Cut::Timeout).then(|| self.state.stopped(Outcome::Timeout))
    }
}

impl<const LIMITED: bool, K> fmt::Debug for Call<'_, LIMITED, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
