//! expect: `bool` is no answer about an error, expected a `Verdict`
use std::io;

use reattempt::retry;

#[retry(verdict = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut)]
async fn fetch(addr: &str) -> io::Result<String> {
    Ok(addr.to_owned())
}

fn main() {
    let _ = fetch("a");
}
