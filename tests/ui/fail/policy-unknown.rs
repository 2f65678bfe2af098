//! expect: cannot find value `FAST` in this scope

use std::io;

use reattempt::retry;

#[retry(policy = "FAST")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
