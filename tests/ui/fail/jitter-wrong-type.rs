//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(jitter = chosen)]
async fn fetch(chosen: &str) -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch("full"));
}
