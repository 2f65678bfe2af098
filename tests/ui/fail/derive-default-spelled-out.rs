//! expect: unknown word `default`

#[derive(reattempt::Retryable)]
#[retryable(default = permanent)]
enum Error {
    Busy,
}

fn main() {}
