//! Functions and fields that `#[retryable]` names, with another type.

mod derive_after_wrong_type {
    //! expect: `u64` is not a delay

    #[derive(reattempt::Retryable)]
    enum Error {
        #[retryable(throttled, after = "seconds")]
        Busy { seconds: u64 },
    }
}

mod derive_with_code_wrong_type {
    //! expect: `&String` is not the number of a code

    #[derive(reattempt::Retryable)]
    enum Error {
        #[retryable(with = "reattempt::codes::http_status")]
        Status(String),
    }
}

mod derive_with_wrong_type {
    //! expect: mismatched types

    #[derive(reattempt::Retryable)]
    enum Error {
        #[retryable(with = "judge")]
        Status(u16),
    }

    fn judge(status: &u16) -> bool {
        *status >= 500
    }
}

fn main() {}
