//! expect: expected type, found variant `MyError::Busy`

use reattempt::retry;

#[derive(Debug)]
enum MyError {
    Busy,
}

#[retry(on = "MyError::Busy")]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError::Busy)
}

fn main() {}
