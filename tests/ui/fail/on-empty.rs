//! expect: `on` names no type

use std::io;

use reattempt::retry;

#[retry(on())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
