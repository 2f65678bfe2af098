//! expect: mismatched types
use reattempt::retry;

#[retry(idempotent = method)]
async fn fetch(method: &str) -> std::io::Result<String> {
    Ok(method.to_owned())
}

fn main() {
    let _ = fetch("GET");
}
