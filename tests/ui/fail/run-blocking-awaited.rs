//! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`
use std::{fs, io};

use reattempt::FAST_IO;

async fn call() -> io::Result<Vec<u8>> {
    FAST_IO.run_blocking(|| fs::read("settings.toml")).await
}

fn main() {
    let _ = call();
}
