//! expect: `throttled` takes no value

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled = "wait")]
    Busy { wait: std::time::Duration },
}

fn main() {}
