//! expect: `Vec<u8>` does not say which of its errors are worth another attempt

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(forward)]
    Read(Vec<u8>),
}

fn main() {}
