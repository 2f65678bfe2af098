//! expect: this error does not say whether it is worth another attempt

#[derive(reattempt::Retryable)]
struct Error;

fn main() {}
