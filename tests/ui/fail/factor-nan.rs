//! expect: factor `f64::NAN` is not a number, expected 1 to 1000

use std::io;

use reattempt::retry;

#[retry(factor = f64::NAN)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
