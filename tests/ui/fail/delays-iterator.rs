//! expect: `delays` is a `Map<std::ops::Range<u64>, fn(u64) -> Duration {Duration::from_secs}>`, expected a list of durations

use std::time::Duration;

use reattempt::retry;

#[retry(delays = (1..4).map(Duration::from_secs))]
async fn fetch() -> std::io::Result<String> {
    Ok(String::new())
}

fn main() {
    drop(fetch());
}
