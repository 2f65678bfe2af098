//! expect: found `is_temporary()`, expected a path or a closure

use std::io;

use reattempt::retry;

fn is_temporary(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[retry(when = is_temporary())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
