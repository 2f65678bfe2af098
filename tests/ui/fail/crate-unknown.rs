//! expect: cannot find `elsewhere` in the crate root

use std::io;

use reattempt::retry;

#[retry(crate = "::elsewhere")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
