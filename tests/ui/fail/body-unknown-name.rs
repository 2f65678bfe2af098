//! expect: cannot find value `adress` in this scope

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch(address: &str) -> io::Result<usize> {
    Ok(adress.len())
}

fn main() {}
