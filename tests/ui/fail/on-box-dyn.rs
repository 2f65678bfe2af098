//! expect: `Box<dyn std::error::Error>` is any error, expected one type

use std::io;

use reattempt::retry;

#[retry(on = "Box<dyn std::error::Error>")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
