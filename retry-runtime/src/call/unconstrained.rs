//! Polling what must be heard, whatever the rest of the task has spent.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::unconstrained;

/// Polls a future even where nothing is left of tokio's cooperative budget.
///
/// What shares the task may spend it at each poll, and tokio's own futures, a timer that is due among
/// them, then say "pending": the task would never hear of its limit.
#[inline]
pub(super) fn poll_unconstrained<F: Future>(
    future: Pin<&mut F>,
    waker: &mut Context<'_>,
) -> Poll<F::Output> {
    Pin::new(&mut unconstrained(future)).poll(waker)
}
