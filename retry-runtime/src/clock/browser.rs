//! The clock of a browser and of Node, and their timers: `setTimeout`, in the shape of tokio's timers. The clock of std and
//! tokio panics there.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
#[cfg(feature = "http-1")]
use std::time::SystemTime;

use futures_timer::Delay;
pub(crate) use web_time::Instant;

/// A timer. It is due by the clock, however late it wakes its task.
///
/// It is `Send`, so that the future of a call is. But what JavaScript gives for a timer may not leave its thread: on another
/// thread, a timer that was polled panics. Tasks of a browser stay on theirs.
#[expect(unnameable_types, reason = "generated code has no name for a timer")]
#[derive(Debug)]
pub struct Sleep {
    deadline: Instant,
    set: Option<Delay>,
}

/// The shortest wait. A page runs nothing else as long as a task is awake.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);

/// The date and time of this machine.
#[cfg(feature = "http-1")]
pub(crate) fn date() -> SystemTime {
    web_time::web::SystemTimeExt::to_std(web_time::SystemTime::now())
}

/// Makes a timer for this instant.
pub(crate) const fn sleep_until(deadline: Instant) -> Sleep {
    Sleep {
        deadline,
        set: None,
    }
}

impl Sleep {
    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        *self = sleep_until(deadline);
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Poll::Ready(());
            }
            // Up to the next millisecond, so that a timer that fires is due.
            let whole = left.saturating_add(Duration::from_nanos(999_999));
            let set = self.set.get_or_insert_with(|| Delay::new(whole));
            ready!(Pin::new(set).poll(context));
            self.set = None;
        }
    }
}
