//! expect: `Failure` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`
use reattempt::{FAST_IO, retry};

#[derive(Debug)]
struct Failure;

#[retry(policy = FAST_IO.without_limits(), timeout = "1s", when = |_| true)]
async fn fetch() -> Result<String, Failure> {
    Err(Failure)
}

fn main() {
    let _ = fetch();
}
