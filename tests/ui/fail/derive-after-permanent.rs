//! expect: `after` on a permanent error: there is no other attempt to wait for

use std::time::Duration;

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(permanent, after = "wait")]
    Gone { wait: Duration },
}

fn main() {}
