//! expect: the closure of `when` takes 2 arguments, expected 1

use std::io;

use reattempt::retry;

#[retry(when = |error, attempt| attempt < 3)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
