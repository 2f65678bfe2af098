//! expect: `String` does not say which of its errors are worth another attempt
use reattempt::FAST_IO;

async fn fetch() -> Result<u8, String> {
    FAST_IO.run(async || Err("busy".to_owned())).when(|_| true).await
}

fn main() {
    let _ = fetch;
}
