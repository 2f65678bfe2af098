//! The switch that turns retries off in the whole process.

use crate::atomics::Flag;
use crate::listen::test_scope_around;

/// Whether retries are off outside of test scopes.
pub(crate) static DISABLED: Flag = Flag::new();

/// Turns retries off, or on again, in the whole process. Default: on.
///
/// While retries are off, a call makes no further attempt after one that fails or reaches its timeout. Timeouts and
/// deadlines still hold, and the caller gets the error of the last attempt. Running calls obey from their next decision
/// on: a call that waits goes on waiting, makes one more attempt and then ends. The outcome is
/// [`Outcome::Disabled`](crate::Outcome::Disabled), or `Timeout` if the attempt reached its timeout. To stop calls at
/// once, use the key `cancel`. A call with unlimited attempts goes on, and waits for the longest delay before each attempt.
///
/// A call that succeeds at once does not read the switch. In a test scope (feature `testing`), this is the switch of the scope
/// alone, which is on at the beginning.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// reattempt::set_enabled(false);
/// assert!(!reattempt::is_enabled());
/// # reattempt::set_enabled(true);
/// ```
pub fn set_enabled(enabled: bool) {
    match test_scope_around() {
        Some(scope) => scope.disabled.set(!enabled),
        None => DISABLED.set(!enabled),
    }
}

/// Returns whether retries are on in this process. See [`set_enabled`].
#[must_use]
#[inline]
pub fn is_enabled() -> bool {
    match test_scope_around() {
        Some(scope) => scope.disabled.is_down(),
        None => DISABLED.is_down(),
    }
}
