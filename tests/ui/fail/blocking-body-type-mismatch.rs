//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(blocking)]
fn fetch() -> io::Result<u8> {
    let zero: u8 = "zero";
    Ok(zero)
}

fn main() {
    drop(fetch());
}
