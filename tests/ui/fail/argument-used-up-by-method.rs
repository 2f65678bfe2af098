//! expect: use of moved value

use std::io;

use reattempt::retry;

struct Body(Vec<u8>);

impl Body {
    fn bytes(self) -> Vec<u8> {
        self.0
    }
}

#[retry(attempts = 4)]
async fn send(body: Body) -> io::Result<usize> {
    Ok(body.bytes().len())
}

fn main() {}
