//! expect: type mismatch in function arguments
use reattempt::retry;

fn record(outcome: &str) {
    println!("{outcome}");
}

#[retry(on_end = record)]
async fn fetch(addr: &str) -> std::io::Result<String> {
    Ok(addr.to_owned())
}

fn main() {
    let _ = fetch("a");
}
