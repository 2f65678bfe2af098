//! Deadlines that come from outside, and go on to the next service.
//!
//! - [`scope`] and [`scope_at`] give a deadline to code that no annotated function surrounds, such as the handler of
//!   an incoming request. A call obeys the nearest outer deadline.
//! - [`remaining`] returns the time that is left.
//! - [`header`] writes that time as the value of a header, and reads it. So a service can take a deadline from its
//!   caller and pass it on.
//!
//! # Examples
//!
//! ```
//! # use reattempt_runtime as reattempt;
//! use std::time::Duration;
//!
//! use reattempt::deadline::{self, header};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! // A request came in with `grpc-timeout: 1500m`.
//! let allowed = header::parse_grpc_timeout("1500m").unwrap_or(Duration::from_secs(30));
//! deadline::scope(allowed, async {
//!     // Annotated functions that are called here end in time, and tell the next service:
//!     let left = deadline::remaining().unwrap();
//!     assert!(left <= Duration::from_millis(1500));
//!     let value = header::format_grpc_timeout(left);
//!     assert!(header::parse_grpc_timeout(&value).unwrap() <= left);
//! })
//! .await;
//! # }
//! ```

pub mod header;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::clock::{Instant, Stamp};
use crate::context::{Frame, outer};
use crate::opaque::opaque;

/// Gives a future a deadline that the annotated functions in it inherit: `duration` from now.
///
/// Annotated functions in the future stop retrying in time. Those with `timeout`, `deadline`, `cancel`, `until` or a `policy`
/// that may have limits also cut an attempt that is running then. The future itself is not cut, so it may have any output.
/// To cut it, put `tokio::time::timeout` around it. Of several scopes and calls, the nearest deadline holds.
///
/// In the body of an annotated function, the deadline is that of the calls inside the scope. The function does not end with
/// them, unless its own deadline is reached.
///
/// A duration above 400 years is no deadline.
///
/// A spawned task is outside; [`propagate`](crate::propagate()) carries the deadline into it.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future`.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::time::Duration;
///
/// use reattempt::deadline;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let left = deadline::scope(Duration::from_secs(2), async { deadline::remaining() }).await;
/// assert!(left.unwrap() <= Duration::from_secs(2));
/// # }
/// ```
pub fn scope<F: Future>(duration: Duration, future: F) -> DeadlineScope<F> {
    within(Stamp::now().after(Some(duration)), future)
}

/// The same, or no deadline with `None`, for a future that is made in the scope.
#[cfg(feature = "tower-0_5")]
pub(crate) fn scope_if<F: Future>(
    duration: Option<Duration>,
    make: impl FnOnce() -> F,
) -> DeadlineScope<F> {
    let mut frame = Frame::of_scope(Stamp::now().after(duration));
    let future = frame.narrow(make);
    DeadlineScope { frame, future }
}

/// Gives a future a deadline that the annotated functions in it inherit, as [`scope`] does: the instant `deadline`.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future`.
pub fn scope_at<F: Future>(deadline: Instant, future: F) -> DeadlineScope<F> {
    within(Stamp::of(deadline), future)
}

fn within<F: Future>(deadline: Stamp, future: F) -> DeadlineScope<F> {
    let frame = Frame::of_scope(deadline);
    DeadlineScope { frame, future }
}

/// Returns the time left until the nearest limit of the code that runs now, in `[0, limit]`, or `None` without a limit.
///
/// In an attempt it equals [`Attempt::remaining`](crate::Attempt::remaining).
#[must_use]
pub fn remaining() -> Option<Duration> {
    outer(|frame| frame.limits().nearest().left()).flatten()
}

pin_project! {
    /// The future of [`scope`] and [`scope_at`].
    #[must_use = "futures do nothing unless polled"]
    pub struct DeadlineScope<F> {
        // It has the deadline. The code inside sees it if no call surrounds this scope.
        frame: Frame,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for DeadlineScope<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.frame.narrow(|| this.future.poll(context))
    }
}

opaque! { DeadlineScope [F] [F]; }
