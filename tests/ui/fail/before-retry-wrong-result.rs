//! expect: `before_retry` gives `Result<u16, std::io::Error>`, expected `()` or `Result<(), _>`

use std::io;

use reattempt::retry;

async fn reconnect() -> io::Result<u16> {
    Ok(1)
}

#[retry(before_retry = reconnect())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
