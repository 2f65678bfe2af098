//! expect: found `e.kind() == io::ErrorKind::Time…`, expected a path or a closure

use std::io;

use reattempt::retry;

#[retry(when = e.kind() == io::ErrorKind::TimedOut)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
