//! Does not compile: nothing can block a thread of a browser.

use std::io;

use reattempt::{FAST_IO, retry};

#[retry(blocking)]
fn fetch() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = FAST_IO.run_blocking(fetch).call();
}
