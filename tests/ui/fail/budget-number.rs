//! expect: found `0.1`, expected the path of a `static Budget`, or `"none"`

use std::io;

use reattempt::retry;

#[retry(budget = 0.1)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
