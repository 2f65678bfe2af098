//! Polling what must be heard, whatever the rest of the task has spent.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::coop;

/// Polls a future even where nothing is left of tokio's cooperative budget.
///
/// What shares the task may spend it at each poll, and tokio's own futures, a timer that is due among
/// them, then say "pending": the task would never hear of its limit.
#[inline]
pub(super) fn poll_unconstrained<F: Future>(
    mut future: Pin<&mut F>,
    waker: &mut Context<'_>,
) -> Poll<F::Output> {
    let polled = future.as_mut().poll(waker);
    if polled.is_pending() && !coop::has_budget_remaining() {
        return Pin::new(&mut coop::unconstrained(future)).poll(waker);
    }
    polled
}
