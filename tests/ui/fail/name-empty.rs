//! expect: `name` is empty

use std::io;

use reattempt::retry;

#[retry(name = "")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
