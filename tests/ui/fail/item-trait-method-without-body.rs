//! expect: this function has no body, so there is nothing to retry

use std::io;

use reattempt::retry;

#[allow(async_fn_in_trait)]
trait Client {
    #[retry]
    async fn fetch(&self) -> io::Result<u8>;
}

fn main() {}
