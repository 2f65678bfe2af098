//! expect: `io::ErrorKind::TimedOut` is a kind of error, expected an error type

use std::io;

use reattempt::retry;

#[retry(on = io::ErrorKind::TimedOut)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
