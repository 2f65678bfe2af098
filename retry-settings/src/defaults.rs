//! The settings of a call that nothing sets.

use std::time::Duration;

use crate::keys::PolicyKey;

/// The number of attempts.
pub const ATTEMPTS: u32 = 3;
/// The ceiling of the first delay.
pub const BASE: Duration = Duration::from_millis(100);
/// The longest delay.
pub const MAX_DELAY: Duration = Duration::from_secs(20);
/// The longest hint that is followed.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Returns the default of a key whose value is a duration. `None` if the default is no limit.
#[must_use]
pub const fn length(key: PolicyKey) -> Option<Duration> {
    match key {
        PolicyKey::Base => Some(BASE),
        PolicyKey::MaxDelay => Some(MAX_DELAY),
        PolicyKey::MaxRetryAfter => Some(MAX_RETRY_AFTER),
        PolicyKey::Timeout
        | PolicyKey::Deadline
        | PolicyKey::Attempts
        | PolicyKey::Backoff
        | PolicyKey::Factor
        | PolicyKey::Jitter => None,
    }
}
