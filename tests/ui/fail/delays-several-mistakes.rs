//! expect: duration `"5"` has no unit
//! errors: 3
use reattempt::retry;

#[retry(delays = ["0s", "5", 20, "1.5x"])]
async fn fetch(addr: &str) -> std::io::Result<String> {
    Ok(addr.to_owned())
}

fn main() {
    let _ = fetch("a");
}
