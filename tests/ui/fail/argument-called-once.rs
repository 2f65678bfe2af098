//! expect: `impl FnOnce() -> u8` is used up by the first attempt, and it is not `Clone`
//!
//! Each attempt would call a function that can be called only once.

use reattempt::retry;

#[retry]
async fn call(make: impl FnOnce() -> u8) -> std::io::Result<u8> {
    Ok(make())
}

fn main() {
    drop(call(|| 1));
}
