//! expect: duration `"1,5s"` has a `,` in its number

use std::io;

use reattempt::retry;

#[retry(timeout = "1,5s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
