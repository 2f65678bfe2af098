//! expect: `"1 + 1"` is not a path, expected the path of a function

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(with = "1 + 1")]
    Status(u16),
}

fn main() {}
