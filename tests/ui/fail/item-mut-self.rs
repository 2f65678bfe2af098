//! expect: `mut self` would carry the changes of a failed attempt into the next

use std::io;

use reattempt::retry;

struct Client {
    calls: u32,
}

impl Client {
    #[retry]
    async fn fetch(mut self) -> io::Result<u32> {
        self.calls += 1;
        Ok(self.calls)
    }
}

fn main() {
    drop(Client { calls: 0 }.fetch());
}
