//! expect: duration `"5sek"` has an unknown unit, `sek`

use std::io;

use reattempt::retry;

#[retry(timeout = "5sek")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
