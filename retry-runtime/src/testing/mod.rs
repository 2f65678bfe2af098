//! Tests of code that retries: without waits, and independent of each other.
//!
//! In a [`Scope`], annotated functions and [`Policy::run`](crate::Policy::run) do not wait between attempts, draw their
//! jitter from a seed, and have budgets of their own. A [`Log`] lists the calls.
//!
//! # Examples
//!
//! ```
//! # use reattempt_runtime as reattempt;
//! use std::io;
//!
//! use reattempt::{Outcome, SLOW_IO, testing};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let fails = SLOW_IO.run(async || Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset)));
//! let (result, log) = testing::Scope::new().run(fails).await;
//!
//! assert!(result.is_err());
//! let call = &log.calls()[0];
//! assert_eq!(call.report().outcome(), Outcome::AttemptsExhausted);
//! assert_eq!(call.delays().len(), 4, "SLOW_IO makes five attempts, and none of them was waited for");
//! # }
//! ```
//!
//! # The scope, or tokio's paused clock
//!
//! | | a test scope | `#[tokio::test(start_paused = true)]` |
//! |---|---|---|
//! | waits | are skipped and recorded | are skipped: the clock jumps |
//! | timeouts and deadlines | run in real time; a skipped wait counts towards the deadline | run on the jumping clock |
//! | real I/O (a mock server, a database) | works | the clock jumps while the answer is on its way, so that attempts time out |
//! | jitter | from the seed | random |
//! | budgets | fresh for each scope | those of the process |
//! | hedges | begin in real time; each scope has ten for each function | begin on the jumping clock; those that the function has in the process |
//! | presets, and the switch | those in the code, unless the scope sets them | those of the process |
//!
//! Use the paused clock for tests that are about time and do no I/O. The clock jumps when every task waits: while a
//! mock server takes 20 ms to answer, the runtime looks idle.

mod log;
mod scope;

use std::time::Duration;

pub use self::log::Log;
pub use self::scope::Scope;
use crate::stopped::{Outcome, Stopped};
pub use crate::test_scope::{Fault, LoggedCall};

/// Returns the last part of the name of a function, for [`Scope::with_fault`] and [`Log::calls_of`]. It follows a function that is
/// renamed.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// fn price() {}
///
/// assert_eq!(reattempt::testing::name_of(&price), "price");
/// ```
#[must_use]
pub fn name_of<F>(function: &F) -> &'static str {
    let name = std::any::type_name_of_val(function);
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// Makes a [`Stopped`], for tests of code that receives one. It has no limit and no source, and may have run unless it made no attempt.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::io;
/// use std::time::Duration;
///
/// use reattempt::{Outcome, testing};
///
/// let error = io::Error::from(testing::stopped(Outcome::Timeout, 3, Duration::from_secs(2)));
/// assert_eq!(error.kind(), io::ErrorKind::TimedOut);
/// ```
#[must_use]
pub fn stopped(outcome: Outcome, attempts: u32, elapsed: Duration) -> Stopped {
    Stopped {
        outcome,
        attempts,
        elapsed,
        limit: None,
        // No other call without an attempt left is stopped.
        not_ready: outcome == Outcome::AttemptsExhausted,
        may_have_run: attempts > 0,
        source: None,
    }
}
