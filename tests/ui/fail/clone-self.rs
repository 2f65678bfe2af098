//! expect: `self` cannot be cloned for each attempt

use std::io;

use reattempt::retry;

#[derive(Clone)]
struct Client;

impl Client {
    #[retry(clone(self))]
    async fn fetch(self) -> io::Result<u8> {
        Ok(0)
    }
}

fn main() {}
