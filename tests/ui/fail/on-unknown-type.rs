//! expect: cannot find module or crate `hyper` in this scope

use std::io;

use reattempt::retry;

#[retry(on = "hyper::Error")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
