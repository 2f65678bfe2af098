//! expect: `before_retry` gives `u16`, expected `()` or a `Result`

use std::io;

use reattempt::retry;

async fn reconnect() -> u16 {
    1
}

#[retry(before_retry = reconnect())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
