//! expect: use of moved value

use std::io;

use reattempt::retry;

struct Token(String);

impl Token {
    fn consume(self) -> String {
        self.0
    }
}

struct Client {
    token: Token,
}

impl Client {
    #[retry]
    async fn send(self) -> io::Result<usize> {
        Ok(self.token.consume().len())
    }
}

fn main() {}
