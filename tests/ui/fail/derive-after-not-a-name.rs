//! expect: `1 + 1` is not a field, expected its name or the path of a method

use std::time::Duration;

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled, after = 1 + 1)]
    Busy { wait: Duration },
}

fn main() {}
