//! expect: mismatched types

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(with = "judge")]
    Status(u16),
}

fn judge(status: &u16) -> bool {
    *status >= 500
}

fn main() {}
