//! expect: `&String` is not the number of a code

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(with = "reattempt::codes::http_status")]
    Status(String),
}

fn main() {}
