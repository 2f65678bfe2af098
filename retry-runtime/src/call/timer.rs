//! Makes tokio's timer. If the runtime has none, the panic names the function.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::site::Settings;

/// No timer is armed for longer than this. A longer limit arms timers one after another, because some versions of tokio
/// delay other timers while a timer lies in the far future.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Puts a timer for a call with these settings into `slot`.
///
/// # Panics
///
/// - If the runtime has no timers.
#[inline]
pub(super) fn arm(mut slot: Pin<&mut Option<Sleep>>, settings: &Settings<'_>, until: Instant) {
    // Made where it stays, because it has 96 bytes.
    needs_timers(settings, || slot.set(Some(sleep_until(until))));
}

/// Makes a timer for a call with these settings.
///
/// # Panics
///
/// - If the runtime has no timers.
#[inline]
pub(super) fn timer(settings: &Settings<'_>, until: Instant) -> Sleep {
    needs_timers(settings, || sleep_until(until))
}

/// Runs `make`, which makes a timer. tokio has no function that says whether the runtime has timers, and its panic does
/// not name the function.
#[inline]
fn needs_timers<T>(settings: &Settings<'_>, make: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(output) => output,
        Err(panic) => no_timer(settings.name(), &*panic),
    }
}

#[cold]
fn no_timer(name: &str, panic: &(dyn Any + Send)) -> ! {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    panic!(
        "`{name}` needs a tokio runtime with timers for its waits and limits: call `enable_time()` or `enable_all()` on the runtime's builder ({})",
        text.unwrap_or("tokio made no timer")
    )
}
