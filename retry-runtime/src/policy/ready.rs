//! Policies for two common kinds of call, and one that never retries.

use std::time::Duration;

use super::Policy;

/// For services that answer in milliseconds: a cache, a service in the same data centre.
///
/// 3 attempts of at most 500 ms, a base of 10 ms, delays of at most 200 ms, and a deadline of 2 s. Our choice: the
/// base is well above the 1 ms step of timers, and the deadline suits a user who waits for a page.
pub const FAST_IO: Policy = Policy::new()
    .with_attempts(3)
    .with_timeout(Duration::from_millis(500))
    .with_base(Duration::from_millis(10))
    .with_max_delay(Duration::from_millis(200))
    .with_deadline(Duration::from_secs(2));

/// For services that take seconds: the API of a third party, object storage, a report.
///
/// 5 attempts of at most 10 s, a base of 250 ms, delays of at most 20 s, and a deadline of 60 s. Our choice: nginx
/// (`proxy_read_timeout`) also gives a server 60 s by default.
pub const SLOW_IO: Policy = Policy::new()
    .with_attempts(5)
    .with_timeout(Duration::from_secs(10))
    .with_base(Duration::from_millis(250))
    .with_max_delay(Duration::from_secs(20))
    .with_deadline(Duration::from_secs(60));

/// One attempt and no limits. Events, metrics and reports go on.
pub const NO_RETRY: Policy = Policy::new().with_attempts(1);
