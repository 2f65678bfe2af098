//! expect: `timeout` (30s) is above `deadline` (5s)

use std::io;

use reattempt::retry;

#[retry(timeout = "30s", deadline = "5s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
