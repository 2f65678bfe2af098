//! expect: `String` does not say which of its errors are worth another attempt

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> Result<u8, String> {
    Err("busy".to_owned())
}

fn main() {}
