//! expect: `on_end` changes `self`, which the attempts borrow

use std::io;

use reattempt::retry;

struct Client {
    calls: u32,
    name: String,
}

impl Client {
    #[retry(on_end = |_| self.calls += 1)]
    async fn fetch(&mut self) -> io::Result<usize> {
        self.name.push('x');
        Ok(self.name.len())
    }
}

fn main() {
    drop(Client { calls: 0, name: String::new() }.fetch());
}
