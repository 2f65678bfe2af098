//! expect: a blocking run is not a future
//! errors: 2
use std::{fs, io};

use reattempt::FAST_IO;

async fn call() -> io::Result<Vec<u8>> {
    FAST_IO.run_blocking(|| fs::read("settings.toml")).await
}

fn main() {
    let _ = call();
}
