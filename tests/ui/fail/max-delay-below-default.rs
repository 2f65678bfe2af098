//! expect: `max_delay` (50ms) is below `base`, 100ms by default

use std::io;

use reattempt::retry;

#[retry(max_delay = "50ms")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
