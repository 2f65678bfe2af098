//! expect: an `extern` function cannot be retried

use std::io;

use reattempt::retry;

#[retry(blocking)]
extern "C" fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
