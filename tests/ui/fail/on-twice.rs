//! expect: `io::Error` is in `on` twice

use std::io;

use reattempt::retry;

#[retry(on(io::Error, io::Error))]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
