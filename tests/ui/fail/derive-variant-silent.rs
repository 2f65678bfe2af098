//! expect: variant `Closed` does not say whether it is worth another attempt

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(transient)]
    Busy,
    Closed,
}

fn main() {}
