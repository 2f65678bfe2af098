//! expect: `on` cannot look inside `anyhow::Error`
use std::io;

use reattempt::FAST_IO;

async fn fetch() -> anyhow::Result<u8> {
    FAST_IO.run(async || Ok(7)).on::<io::Error>().await
}

fn main() {
    let _ = fetch;
}
