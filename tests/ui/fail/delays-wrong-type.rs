//! expect: `delays` is a `u64`, expected a list of durations
use reattempt::retry;

#[retry(delays = millis)]
async fn fetch(millis: u64) -> std::io::Result<String> {
    Ok(millis.to_string())
}

fn main() {
    let _ = fetch(1);
}
