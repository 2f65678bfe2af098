//! expect: found `false`, expected the path of a `static Budget`, or `"none"`

use std::io;

use reattempt::retry;

#[retry(budget = false)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
