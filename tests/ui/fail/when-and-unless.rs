//! expect: `when` and `unless` both ask `is_temporary`, so nothing is retried

use std::io;

use reattempt::retry;

fn is_temporary(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[retry(when = is_temporary, unless = is_temporary)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
