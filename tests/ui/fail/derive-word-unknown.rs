//! expect: unknown word `trasient`

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(trasient)]
    Busy,
}

fn main() {}
