//! expect: `Vec<Guard>` is used up by the first attempt, and it is not `Clone`
//!
//! A drop of a reference would compile, and keep the guards.

use std::io;

use reattempt::retry;

pub struct Guard;

#[retry]
async fn release(guards: Vec<Guard>) -> io::Result<u8> {
    drop(guards);
    Ok(1)
}

fn main() {
    drop(release(Vec::new()));
}
