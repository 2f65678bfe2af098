//! expect: `crate` above a variant

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(transient, crate = "elsewhere")]
    Busy,
}

fn main() {}
