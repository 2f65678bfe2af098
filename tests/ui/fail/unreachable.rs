//! expect: unreachable statement

#![deny(unreachable_code)]

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    return Ok(0);
    println!("never");
}

fn main() {}
