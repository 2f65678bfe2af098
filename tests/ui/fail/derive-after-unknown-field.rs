//! expect: there is no field `retry_after` here

use std::time::Duration;

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled, after = "retry_after")]
    Busy { rety_after: Duration },
}

fn main() {}
