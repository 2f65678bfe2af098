//! expect: `impl Iterator<Item = u8>` is used up by the first attempt, and it is not `Clone`
//!
//! An iterator gives its items once, so that the second attempt would get none.

use std::io;

use reattempt::retry;

#[retry]
async fn sum(items: impl Iterator<Item = u8>) -> io::Result<u8> {
    let mut sum = 0;
    for item in items {
        sum += item;
    }
    Ok(sum)
}

fn main() {
    drop(sum(std::iter::once(1)));
}
