//! expect: the result borrows from `self`: the next attempt cannot have it

use std::io;

use reattempt::retry;

struct Stream {
    info: String,
}

impl Stream {
    async fn fetch(&self) -> io::Result<String> {
        Ok(self.info.clone())
    }

    #[retry]
    async fn info(&mut self) -> io::Result<&String> {
        let info = self.fetch().await?;
        self.info = info;
        Ok(&self.info)
    }
}

fn main() {}
