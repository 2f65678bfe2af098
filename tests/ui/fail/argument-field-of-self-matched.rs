//! expect: a field of type `Option<String>` is moved out of an argument, and each attempt needs it again
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
