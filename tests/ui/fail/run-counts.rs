//! expect: async closure does not implement `FnMut` because it captures state from its environment
//! errors: 2
use std::io;

use reattempt::FAST_IO;

async fn call() -> io::Result<u8> {
    let mut calls = 0;
    FAST_IO
        .run(async || {
            calls += 1;
            io::Result::Ok(calls)
        })
        .await
}

fn main() {
    let _ = call();
}
