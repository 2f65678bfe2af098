//! expect: function `fetch` is never used

#![deny(dead_code)]

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    Ok(0)
}

fn main() {}
