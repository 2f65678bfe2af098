//! expect: `F` is used up by the first attempt, and it is not `Clone`
//!
//! A future can be awaited once.

use std::io;

use reattempt::retry;

#[retry]
async fn wait<F: Future<Output = u8>>(future: F) -> io::Result<u8> {
    Ok(future.await)
}

fn main() {
    drop(wait(async { 1 }));
}
