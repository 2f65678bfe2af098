//! expect: type mismatch in function arguments

use std::io;

use reattempt::retry;

fn is_temporary(error: &std::fmt::Error) -> bool {
    error.to_string().is_empty()
}

#[retry(when = is_temporary)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
