//! expect: unused variable: `request`

#![deny(unused_variables)]

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch(request: String) -> io::Result<u32> {
    Ok(0)
}

fn main() {}
