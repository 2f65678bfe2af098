//! expect: found `after = "wait"`, expected a comma

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled after = "wait")]
    Busy { wait: std::time::Duration },
}

fn main() {}
