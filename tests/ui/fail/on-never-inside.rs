//! expect: `std::io::Error` can never be found inside `Busy`

use std::io;

use reattempt::retry;

/// It does not implement `std::error::Error`, so the search cannot look for its causes.
struct Busy;

#[retry(on = "io::Error")]
async fn fetch() -> Result<u8, Busy> {
    Err(Busy)
}

fn main() {}
