//! expect: `MyError` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct MyError;

#[retry(when = |_| true, timeout = "1s")]
async fn fetch() -> Result<u8, MyError> {
    Err(MyError)
}

fn main() {}
