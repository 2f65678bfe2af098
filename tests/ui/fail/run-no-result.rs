//! expect: is not a future of a `Result`
use reattempt::FAST_IO;

async fn call() -> u8 {
    FAST_IO.run(async || 7).await
}

fn main() {
    let _ = call();
}
