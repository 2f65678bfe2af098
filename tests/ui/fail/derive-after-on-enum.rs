//! expect: `after = "wait"` above an enum names no field

use std::time::Duration;

#[derive(reattempt::Retryable)]
#[retryable(throttled, after = "wait")]
enum Error {
    Busy { wait: Duration },
}

fn main() {}
