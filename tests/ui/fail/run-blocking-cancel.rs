//! expect: `Result<Vec<u8>, std::io::Error>` is not a future
use std::future::pending;
use std::{fs, io};

use reattempt::FAST_IO;

fn call() -> io::Result<Vec<u8>> {
    FAST_IO.run_blocking(|| fs::read("settings.toml")).with_cancel(pending::<()>()).call()
}

fn main() {
    let _ = call();
}
