//! expect: found a closure, expected a pattern

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
enum MyError {
    #[error("status {0}")]
    Http(u16),
    #[error("closed")]
    Closed,
}

#[retry(matches = |error| error.is_closed())]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError::Http(503)).or(Err(MyError::Closed))
}

fn main() {}
