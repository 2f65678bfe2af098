//! expect: unknown key `retry_if`, called `when` here

use std::io;

use reattempt::retry;

fn is_temporary(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[retry(retry_if = is_temporary)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
