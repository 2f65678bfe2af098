//! expect: `Duration` is not a future, so it cannot cancel a call
use std::time::Duration;

use reattempt::retry;

#[retry(cancel = Duration::from_secs(5))]
async fn fetch(addr: &str) -> std::io::Result<String> {
    Ok(addr.to_owned())
}

fn main() {
    let _ = fetch("a");
}
