//! expect: type mismatch in closure arguments

use std::io;

use reattempt::retry;

#[retry(when_ok = |value: &String| value.is_empty())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
