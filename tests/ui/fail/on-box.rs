//! expect: found `Box<io::Error>`, expected the type inside

use std::io;

use reattempt::retry;

#[retry(on = "Box<io::Error>")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
