//! expect: `?` cannot be used in a setting, found `limit?`

use std::io;
use std::time::Duration;

use reattempt::retry;

#[retry(timeout = limit?)]
async fn fetch(limit: io::Result<Duration>) -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch(Ok(Duration::MAX)));
}
