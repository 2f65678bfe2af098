//! expect: unused variable: `unused`

#![deny(unused_variables)]

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    let unused = 5;
    Ok(0)
}

fn main() {}
