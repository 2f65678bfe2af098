//! expect: `#[retryable = …]` is not how it is written

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable = "transient"]
    Busy,
}

fn main() {}
