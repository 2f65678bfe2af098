//! expect: found `4` after `attempts`, expected `=`

use std::io;

use reattempt::retry;

#[retry(attempts 4)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
