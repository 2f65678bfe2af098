//! expect: `Failure` doesn't implement `std::fmt::Display`
use reattempt::NO_RETRY;

struct Failure;

async fn call() -> Result<u8, Failure> {
    NO_RETRY.without_limits().run(async || Err(Failure)).when_any(|_| true).await
}

fn main() {
    let _ = call();
}
