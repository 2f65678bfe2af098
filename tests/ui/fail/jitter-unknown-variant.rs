//! expect: no variant or associated item named `Some` found for enum `Jitter` in the current scope

use std::io;

use reattempt::{Jitter, retry};

#[retry(jitter = Jitter::Some)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
