//! expect: `Budget::ratio(0.1)` is a new budget for each call, so it would refuse nothing
use reattempt::{Budget, retry};

#[retry(budget = Budget::ratio(0.1))]
async fn fetch(addr: &str) -> std::io::Result<String> {
    Ok(addr.to_owned())
}

fn main() {
    let _ = fetch("a");
    let _ = Budget::ratio(0.1);
}
