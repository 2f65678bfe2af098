//! expect: `MyError` does not say which of its errors are worth another attempt

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct MyError;

#[retry]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError)
}

fn main() {}
