//! expect: found `"transient"`, expected a word of `retryable`

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable("transient")]
    Busy,
}

fn main() {}
