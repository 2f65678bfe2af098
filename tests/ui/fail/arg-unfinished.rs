//! expect: unknown key `att`

use std::io;

use reattempt::retry;

#[retry(att)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
