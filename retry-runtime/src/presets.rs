//! Policies for two common kinds of call, and one that never retries.

use std::time::Duration;

use crate::Policy;

/// For what answers in milliseconds: a cache, a service in the same data centre.
///
/// 3 attempts of at most 500 ms, delays from 10 ms up to 200 ms, 2 s in all. Chosen by us: a base
/// that is well above the 1 ms step of timers, and a deadline that a caller who waits for a page
/// can bear.
pub const FAST_IO: Policy = Policy::new()
    .with_attempts(3)
    .with_timeout(Duration::from_millis(500))
    .with_base(Duration::from_millis(10))
    .with_max_delay(Duration::from_millis(200))
    .with_deadline(Duration::from_secs(2));

/// For what takes seconds: a third party's API, object storage, a report.
///
/// 5 attempts of at most 10 s, delays from 250 ms up to 20 s, 60 s in all. Chosen by us: the
/// deadline is that of the common HTTP gateway.
pub const SLOW_IO: Policy = Policy::new()
    .with_attempts(5)
    .with_timeout(Duration::from_secs(10))
    .with_base(Duration::from_millis(250))
    .with_max_delay(Duration::from_secs(20))
    .with_deadline(Duration::from_secs(60));

/// One attempt, no limit: the attribute is there and does nothing.
pub const NO_RETRY: Policy = Policy::new().with_attempts(1);
