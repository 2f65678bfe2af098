//! expect: no variant or associated item named `Open` found for enum `MyError` in the current scope

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
enum MyError {
    #[error("status {0}")]
    Http(u16),
    #[error("closed")]
    Closed,
}

#[retry(matches = "MyError::Open")]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError::Http(503)).or(Err(MyError::Closed))
}

fn main() {}
