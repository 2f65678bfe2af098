//! expect: found `"io::Error, fmt::Error"`, expected types separated by `|`

use std::io;

use reattempt::retry;

#[retry(on = "io::Error, fmt::Error")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
