//! expect: duration `"PT5S"` is in ISO 8601

use std::io;

use reattempt::retry;

#[retry(deadline = "PT5S")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
