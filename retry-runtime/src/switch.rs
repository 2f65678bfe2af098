//! Retries, on or off for the whole process.

use crate::atomics::Switch;

static RETRIES: Switch = Switch::new(true);

/// Turns retries off, or on again, in the whole process: a switch for production.
///
/// While they are off, every call ends after the attempt that is under way, whether that fails or reaches its
/// timeout. Timeouts and deadlines hold as before, and errors are the ones that the last attempt returned. Calls
/// that run already obey from their next decision on: one that waits between two attempts makes the second. The
/// outcome is [`Outcome::Disabled`](crate::Outcome::Disabled), or `Timeout` if the attempt reached its timeout.
///
/// The happy path does not look at the switch. Default: on.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// reattempt::set_enabled(false);
/// assert!(!reattempt::is_enabled());
/// # reattempt::set_enabled(true);
/// ```
pub fn set_enabled(enabled: bool) {
    RETRIES.set(enabled);
}

/// Whether failed calls are retried in this process. See [`set_enabled`].
#[must_use]
#[inline]
pub fn is_enabled() -> bool {
    RETRIES.is_on()
}
