//! expect: found `after` after `throttled`, expected `,`

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(throttled after = "wait")]
    Busy { wait: std::time::Duration },
}

fn main() {}
