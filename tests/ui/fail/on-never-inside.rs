//! expect: `std::io::Error` can never be found inside `Busy`

use std::io;

use reattempt::retry;

/// No `std::error::Error`, so it has no causes to look through.
struct Busy;

#[retry(on = "io::Error")]
async fn fetch() -> Result<u8, Busy> {
    Err(Busy)
}

fn main() {}
