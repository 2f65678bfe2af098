//! expect: unknown key `max_elapsed_time`, called `deadline` here

use std::io;

use reattempt::retry;

#[retry(max_elapsed_time = "1m")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
