//! expect: the trait bound `u64: AsRef<[Duration]>` is not satisfied
use reattempt::retry;

#[retry(delays = millis)]
async fn fetch(millis: u64) -> std::io::Result<String> {
    Ok(millis.to_string())
}

fn main() {
    let _ = fetch(1);
}
