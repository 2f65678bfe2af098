//! expect: `max_delay` is zero, so that no retry would wait

use std::io;

use reattempt::retry;

#[retry(max_delay = "0s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
