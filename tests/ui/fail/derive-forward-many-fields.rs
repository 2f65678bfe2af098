//! expect: variant `Read` has 2 fields, and none is marked as the one to ask

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(forward)]
    Read(String, std::io::Error),
}

fn main() {}
