//! expect: `M` in duration `"5M"` is a month to some

use std::io;

use reattempt::retry;

#[retry(timeout = "5M")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
