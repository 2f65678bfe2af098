//! The clock of a browser and of Node, and their timers: `setTimeout`, in the shape of tokio's timers. The clock of std and
//! tokio panics there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
#[cfg(feature = "http")]
use std::time::SystemTime;

use gloo_timers::callback::Timeout;
pub(crate) use web_time::Instant;

/// A timer. It is due by the clock, however late it wakes its task.
///
/// What JavaScript gives for a timer may not leave its thread. It is in [`SET`], so that the future of a call is `Send`.
#[expect(unnameable_types, reason = "generated code has no name for a timer")]
#[derive(Debug)]
pub struct Sleep {
    deadline: Instant,
    set: Option<Alarm>,
}

/// A task that a timer of this thread wakes.
#[derive(Debug)]
struct Alarm(Arc<Waker>);

thread_local! {
    /// The timers of this thread that have not fired, by the address of their waker.
    static SET: RefCell<HashMap<usize, Timeout>> = RefCell::default();
}

/// A wait of zero: the shortest. A page runs nothing else as long as a task is awake.
pub(crate) async fn turn() {
    if let Some(soon) = Instant::now().checked_add(Duration::from_millis(1)) {
        sleep_until(soon).await;
    }
}

/// The date and time of this machine.
#[cfg(feature = "http")]
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
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Poll::Ready(());
        }
        let waker = context.waker();
        if !self.set.as_ref().is_some_and(|set| set.will_wake(waker)) {
            self.set = Some(Alarm::set(left, waker));
        }
        Poll::Pending
    }
}

impl Alarm {
    fn set(left: Duration, waker: &Waker) -> Self {
        let waker = Arc::new(waker.clone());
        let alarm = Self(Arc::clone(&waker));
        let key = alarm.key();
        // Up to the next millisecond, so that a timer that fires is due.
        let millis = left
            .saturating_add(Duration::from_nanos(999_999))
            .as_millis();
        let timeout = Timeout::new(u32::try_from(millis).unwrap_or(u32::MAX), move || {
            let fired = SET.with_borrow_mut(|set| set.remove(&key));
            drop(fired);
            waker.wake_by_ref();
        });
        SET.with_borrow_mut(|set| set.insert(key, timeout));
        alarm
    }

    /// Whether a timer of this thread will wake the task. If its task has moved to another thread, it needs a new one.
    fn will_wake(&self, waker: &Waker) -> bool {
        self.0.will_wake(waker) && SET.with_borrow(|set| set.contains_key(&self.key()))
    }

    fn key(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let dropped = SET.with_borrow_mut(|set| set.remove(&self.key()));
        drop(dropped);
    }
}
