//! expect: found `"my-crate"`, expected a path

use std::io;

use reattempt::retry;

#[retry(crate = "my-crate")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
