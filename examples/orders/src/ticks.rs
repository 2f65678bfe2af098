//! What wakes an idle worker.

use std::task::{Context, Poll};
use std::time::Duration;

use apalis::prelude::{PollSnapshot, PollStrategy};
use tokio::time::{Interval, interval};

/// Lets a worker look for jobs so often.
///
/// The `IntervalStrategy` of apalis 1.0 may lose its timer while a query runs. The worker then sleeps forever.
pub(crate) struct Ticks(Interval);

impl Ticks {
    pub(crate) fn new(every: Duration) -> Self {
        Self(interval(every))
    }
}

impl PollStrategy for Ticks {
    fn poll_drive(&mut self, cx: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        while self.0.poll_tick(cx).is_ready() {}
        Poll::Pending
    }
}
