//! expect: `u64` is not a delay

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled, after = "seconds")]
    Busy { seconds: u64 },
}

fn main() {}
