//! Deadlines from outside, and on to the next service.
//!
//! A call that is retried inside another obeys the nearer of both deadlines. [`scope`] gives such a
//! deadline to code that no annotated function surrounds, the handler of an incoming request say;
//! [`remaining`] says what is left of it. The functions of [`header`] turn durations into the values
//! of headers and back, so that a service can take a deadline over from its caller and pass it on.
//!
//! # Examples
//!
//! ```
//! use retry_runtime::deadline::{self, header};
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! // A request came in with `grpc-timeout: 1500m`.
//! let allowed = header::from_grpc("1500m").unwrap_or(Duration::from_secs(30));
//! deadline::scope(deadline::after(allowed), async {
//!     // Annotated functions that are called here end in time, and tell the next service:
//!     let left = deadline::remaining().unwrap();
//!     assert!(left <= Duration::from_millis(1500));
//!     let value = header::to_grpc(left);
//!     assert!(header::from_grpc(&value).unwrap() <= left);
//! })
//! .await;
//! # }
//! ```

pub mod header;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::Instant;

use crate::clock::Stamp;
use crate::context::{Frame, around};

/// Gives a future a deadline that the annotated functions in it inherit.
///
/// They stop retrying in time, and those with a `timeout` or `deadline` of their own cut a running
/// attempt when it is reached. The future itself is not cut: what it does besides goes on, so that
/// the scope can have any output. Where it is to end whatever it does, put
/// `tokio::time::timeout_at` around it. Of several scopes and calls around, the nearest deadline
/// holds.
///
/// A spawned task is outside; [`propagate`](crate::propagate()) carries the deadline into it.
///
/// # Cancel safety
///
/// Dropping it drops the future.
pub fn scope<F: Future>(deadline: Instant, future: F) -> Scope<F> {
    Scope {
        deadline,
        frame: Frame::outside(),
        future,
    }
}

/// The time left until the nearest limit of the code that runs now, in `[0, limit]`, or `None`
/// without one.
///
/// In an attempt that is what [`Attempt::remaining`](crate::Attempt::remaining) says.
#[must_use]
pub fn remaining() -> Option<Duration> {
    let limit = around(Frame::nearest).flatten()?;
    Some(limit.saturating_duration_since(Instant::now()))
}

/// The instant so long from now; a hundred years for what the clock cannot say.
#[must_use]
pub fn after(length: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(length.min(CENTURY)).unwrap_or(now)
}

pin_project! {
    /// The future of [`scope`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Scope<F> {
        deadline: Instant,
        // Lent to the code inside where no call surrounds it.
        frame: Frame,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let deadline = Stamp::of(*this.deadline);
        let (frame, mut future) = (&*this.frame, this.future);
        let mut poll = || future.as_mut().poll(context);
        let within = around(|outer| outer.narrowed(deadline, &mut poll));
        within.unwrap_or_else(|| frame.narrowed(deadline, || frame.lend(poll)))
    }
}

impl<F> fmt::Debug for Scope<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
