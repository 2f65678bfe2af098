//! expect: `on_retry` changes `self`, and `&self` cannot be changed

use std::io;

use reattempt::retry;

struct Client {
    retries: u32,
}

impl Client {
    #[retry(on_retry = |_| self.retries += 1)]
    async fn fetch(&self) -> io::Result<u32> {
        Ok(self.retries)
    }
}

fn main() {
    drop(Client { retries: 0 }.fetch());
}
