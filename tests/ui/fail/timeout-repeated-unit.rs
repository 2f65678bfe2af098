//! expect: duration `"1s 1s"` has the unit `s` twice

use std::io;

use reattempt::retry;

#[retry(timeout = "1s 1s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
