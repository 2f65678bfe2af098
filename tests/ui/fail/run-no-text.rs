//! expect: `Failure` does not implement `Display`, so events cannot show its text
use reattempt::NO_RETRY;

struct Failure;

async fn call() -> Result<u8, Failure> {
    NO_RETRY.without_limits().run(async || Err(Failure)).when(|_| true).await
}

fn main() {
    let _ = call();
}
