//! expect: `#[retryable]` has no verdict, expected one in parentheses

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable]
    Busy,
}

fn main() {}
