//! expect: cannot move out of `__self.text` which is behind a mutable reference

use std::io;

use reattempt::retry;

struct Request {
    text: String,
}

impl Request {
    #[retry]
    async fn send(self) -> io::Result<Vec<u8>> {
        Ok(self.text.into_bytes())
    }
}

fn main() {}
