//! expect: `timeout` is zero, so that no attempt could end in time

use std::io;

use reattempt::retry;

#[retry(timeout = "0s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
