//! expect: unresolved import `elsewhere`

use std::io;

use reattempt::retry;

#[retry(crate = "::elsewhere")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
