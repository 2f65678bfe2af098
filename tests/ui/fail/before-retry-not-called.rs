//! expect: found the path `reconnect`, expected a future

use std::io;

use reattempt::retry;

#[retry(before_retry = reconnect)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
