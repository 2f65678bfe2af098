//! expect: `permanent` after `transient`: a variant has one verdict

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(transient, permanent)]
    Busy,
}

fn main() {}
