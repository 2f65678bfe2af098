//! expect: cannot move out of `__self.body` as enum variant `Some` which is behind a shared reference
use std::io;

use reattempt::retry;

struct Request {
    body: Option<String>,
}

impl Request {
    #[retry]
    async fn send(self) -> io::Result<String> {
        if let Some(text) = self.body {
            return Ok(text);
        }
        Ok(String::new())
    }
}

fn main() {}
