//! expect: found `true`, expected no value

use std::io;

use reattempt::retry;

#[retry(blocking = true)]
fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
