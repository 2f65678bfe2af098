//! expect: `String` is not an error type, and is never inside one

use reattempt::retry;

#[retry(on = "String")]
async fn fetch() -> Result<u8, String> {
    Ok(0)
}

fn main() {}
