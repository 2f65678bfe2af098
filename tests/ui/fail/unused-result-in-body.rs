//! expect: unused `Result` that must be used

#![deny(unused_must_use)]

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    "1".parse::<u32>();
    Ok(0)
}

fn main() {}
