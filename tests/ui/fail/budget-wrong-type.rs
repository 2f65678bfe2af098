//! expect: `budget` is a `u32`, expected a `reattempt::Budget`
use reattempt::retry;

#[retry(budget = tokens)]
async fn fetch(tokens: u32) -> std::io::Result<String> {
    Ok(tokens.to_string())
}

fn main() {
    let _ = fetch(1);
}
