//! expect: `blocking` is for functions that are not async, and this one returns a future

use std::io;

use reattempt::retry;

#[retry(blocking)]
fn fetch() -> impl Future<Output = io::Result<u8>> {
    async { Ok(0) }
}

fn main() {
    drop(fetch());
}
