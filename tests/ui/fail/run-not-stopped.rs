//! expect: `Failure` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
use reattempt::FAST_IO;

#[derive(Debug, thiserror::Error)]
#[error("failed")]
struct Failure;

async fn call() -> Result<u8, Failure> {
    FAST_IO.run(async || Err(Failure)).when_any(|_| true).await
}

fn main() {
    let _ = call();
}
