//! expect: `before_retry` gives `impl Future<Output = Result<(), std::io::Error>>`, expected `()` or a `Result`

use std::io;

use reattempt::retry;

async fn reconnect() -> io::Result<()> {
    Ok(())
}

#[retry(blocking, before_retry = reconnect())]
fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
