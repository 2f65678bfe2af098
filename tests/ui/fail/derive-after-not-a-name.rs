//! expect: `1 + 1` is no field, expected a field's name or the path of a method

use std::time::Duration;

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled, after = 1 + 1)]
    Busy { wait: Duration },
}

fn main() {}
