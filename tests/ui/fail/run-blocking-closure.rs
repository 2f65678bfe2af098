//! expect: is not a future of a `Result`
use std::{fs, io};

use reattempt::FAST_IO;

async fn call() -> io::Result<Vec<u8>> {
    FAST_IO.run(|| fs::read("settings.toml")).await
}

fn main() {
    let _ = call();
}
