//! expect: `?` couldn't convert the error to `MyError`

use reattempt::retry;

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct MyError;

#[retry(when = |_| true)]
async fn fetch(text: &str) -> Result<u32, MyError> {
    let number = text.parse::<u32>()?;
    Ok(number)
}

fn main() {}
