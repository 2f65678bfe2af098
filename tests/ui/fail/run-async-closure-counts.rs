//! expect: async closure does not implement `FnMut` because it captures state from its environment
//! errors: 2

use std::io;

use reattempt::FAST_IO;

async fn fetch() -> io::Result<u8> {
    let mut count = 0;
    let call = FAST_IO.run(async || {
        count += 1;
        io::Result::Ok(count)
    });
    call.await
}

fn main() {
    drop(fetch());
}
