//! expect: nothing can cancel this run
use std::future::pending;
use std::{fs, io};

use reattempt::FAST_IO;

fn call() -> io::Result<Vec<u8>> {
    FAST_IO.run_blocking(|| fs::read("settings.toml")).with_cancel(pending::<()>()).call()
}

fn main() {
    let _ = call();
}
