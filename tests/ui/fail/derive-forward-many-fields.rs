//! expect: variant `Read` has 2 fields, and none is marked with `forward`

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(forward)]
    Read(String, std::io::Error),
}

fn main() {}
