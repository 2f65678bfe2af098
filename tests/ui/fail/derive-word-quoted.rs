//! expect: `"transient"` is no word of `retryable`

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable("transient")]
    Busy,
}

fn main() {}
