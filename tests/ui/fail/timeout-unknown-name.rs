//! expect: expected value, found module `self`

use std::io;

use reattempt::retry;

#[retry(timeout = self.limit)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
