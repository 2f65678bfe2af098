//! expect: unknown word `fatal`

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(fatal)]
    Gone,
}

fn main() {}
