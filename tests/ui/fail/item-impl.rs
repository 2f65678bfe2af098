//! expect: found `impl`, expected an async function

use std::io;

use reattempt::retry;

struct Client;

#[retry]
impl Client {
    async fn fetch(&self) -> io::Result<u8> {
        Ok(0)
    }
}

fn main() {
    drop(Client.fetch());
}
