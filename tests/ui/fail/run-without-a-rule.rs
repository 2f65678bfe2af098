//! expect: `String` does not say which of its errors are worth another attempt
use reattempt::FAST_IO;

async fn call() -> Result<u8, String> {
    FAST_IO.run(async || Err("busy".to_owned())).await
}

fn main() {
    let _ = call();
}
