//! expect: unknown nesting `"max"`

use std::io;

use reattempt::retry;

#[retry(nested = "max")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
