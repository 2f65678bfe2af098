//! expect: `()` is not an error type, and is never inside of one

use reattempt::retry;

#[retry(on = ())]
async fn fetch() -> Result<u8, ()> {
    Ok(0)
}

fn main() {}
