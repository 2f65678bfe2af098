//! expect: `ParseIntError` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`

use std::num::ParseIntError;

use reattempt::retry;

#[retry(on = "ParseIntError", deadline = "1s")]
async fn fetch(text: &str) -> Result<u8, ParseIntError> {
    text.parse()
}

fn main() {}
