//! expect: `blocking` is for functions that are not async, and this one returns a future

use std::io;

use reattempt::retry;

#[retry(attempts = 4, blocking)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
