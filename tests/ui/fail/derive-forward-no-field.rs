//! expect: variant `Busy` has no field to forward to

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(forward)]
    Busy,
}

fn main() {}
