//! expect: `month` in duration `"1 month"` has no fixed length

use std::io;

use reattempt::retry;

#[retry(timeout = "1 month")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
