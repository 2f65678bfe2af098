//! Polls a future outside of tokio's cooperative budget.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::unconstrained;

/// Polls a future even if nothing is left of tokio's cooperative budget.
///
/// Other code in the task may spend that budget at each poll. tokio's futures are then pending, even a timer that is
/// due, so the call would never reach its limit.
#[inline]
pub(super) fn poll_unconstrained<F: Future>(
    future: Pin<&mut F>,
    waker: &mut Context<'_>,
) -> Poll<F::Output> {
    Pin::new(&mut unconstrained(future)).poll(waker)
}
