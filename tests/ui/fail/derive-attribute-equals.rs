//! expect: found `=` after `retryable`, expected parentheses

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable = "transient"]
    Busy,
}

fn main() {}
