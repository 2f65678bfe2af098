//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    std::future::ready(()).await;
}

fn main() {}
