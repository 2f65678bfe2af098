//! expect: `transient` above a field, expected `forward`

#[derive(reattempt::Retryable)]
struct Error {
    #[retryable(transient)]
    source: std::io::Error,
}

fn main() {}
