//! expect: a field of type `String` is moved out of an argument, and each attempt needs it again

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
