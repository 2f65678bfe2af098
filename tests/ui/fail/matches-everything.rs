//! expect: `_` matches every error, also a permanent one

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
enum MyError {
    #[error("status {0}")]
    Http(u16),
    #[error("closed")]
    Closed,
}

#[retry(matches = MyError::Closed | _)]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError::Http(503)).or(Err(MyError::Closed))
}

fn main() {}
