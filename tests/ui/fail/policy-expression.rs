//! expect: found `Policy::new()`, expected the path of a `Policy`

use std::io;

use reattempt::retry;

#[retry(policy = Policy::new())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
