//! expect: `base` has no effect with `delays`
use reattempt::retry;

#[retry(delays = ["0s", "200ms"], base = "50ms")]
async fn fetch(addr: &str) -> std::io::Result<String> {
    Ok(addr.to_owned())
}

fn main() {
    let _ = fetch("a");
}
