//! expect: `#[retryable]` says nothing

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable]
    Busy,
}

fn main() {}
