//! expect: cannot find value `is_temporary` in this scope

use std::io;

use reattempt::retry;

#[retry(when = "is_temporary")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
