//! expect: found `true`, expected a path or a closure

use std::io;

use reattempt::retry;

#[retry(when = true)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
