//! expect: this function is not async any more: an attribute above, such as `#[tokio::main]`, has put it into a runtime

use std::io;

use reattempt::retry;

#[tokio::main(flavor = "current_thread")]
#[retry(attempts = 4)]
async fn main() -> io::Result<()> {
    tokio::task::yield_now().await;
    Ok(())
}
