//! expect: `self` is moved, and each attempt needs it again: `Request` is not `Clone`

use std::io;

use reattempt::retry;

struct Request {
    text: String,
}

fn send(request: Request) -> Vec<u8> {
    request.text.into_bytes()
}

impl Request {
    #[retry]
    async fn run(self) -> io::Result<usize> {
        let size = self.text.len();
        Ok(size + send(self).len())
    }
}

fn main() {}
