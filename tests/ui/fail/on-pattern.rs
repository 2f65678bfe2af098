//! expect: found the pattern `MyError::Http(_)`, expected an error type

use std::io;

use reattempt::retry;

#[retry(on = MyError::Http(_))]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
