//! expect: found an async closure, expected one that `when` can ask at once

use std::io;

use reattempt::retry;

#[retry(when = async |error| true)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
