//! expect: duration `"36h"` is above 24h

use std::io;

use reattempt::retry;

#[retry(deadline = "36h")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
