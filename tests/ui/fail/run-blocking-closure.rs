//! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`
//! errors: 2
use std::{fs, io};

use reattempt::FAST_IO;

async fn call() -> io::Result<Vec<u8>> {
    FAST_IO.run(|| fs::read("settings.toml")).await
}

fn main() {
    let _ = call();
}
