//! expect: `forward` marks two fields, expected one

#[derive(reattempt::Retryable)]
enum Error {
    Read(#[retryable(forward)] std::io::Error, #[retryable(forward)] std::io::Error),
}

fn main() {}
