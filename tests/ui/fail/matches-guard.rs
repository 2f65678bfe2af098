//! expect: found an `if` guard, expected a pattern alone

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
enum MyError {
    #[error("status {0}")]
    Http(u16),
    #[error("closed")]
    Closed,
}

#[retry(matches = MyError::Http(code) if code > 500)]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError::Http(503)).or(Err(MyError::Closed))
}

fn main() {}
