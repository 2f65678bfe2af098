//! expect: `Vec<u8>` has no verdict to forward

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(forward)]
    Read(Vec<u8>),
}

fn main() {}
