//! expect: `on` cannot look inside `String`
use std::io;

use reattempt::FAST_IO;

async fn call() -> Result<u8, String> {
    FAST_IO.run(async || Err("busy".to_owned())).on::<io::Error>().await
}

fn main() {
    let _ = call();
}
