//! expect: unknown key `max_times`, called `attempts` here

use std::io;

use reattempt::retry;

#[retry(max_times = 3)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
