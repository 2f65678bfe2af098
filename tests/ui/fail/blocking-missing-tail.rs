//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(blocking)]
fn fetch() -> io::Result<u8> {
    println!("no value at the end");
}

fn main() {
    drop(fetch());
}
