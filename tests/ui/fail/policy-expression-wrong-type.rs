//! expect: `policy` is a `Duration`, expected a `reattempt::Policy`
use std::time::Duration;

use reattempt::retry;

struct Client {
    limit: Duration,
}

impl Client {
    #[retry(policy = self.limit)]
    async fn fetch(&self) -> std::io::Result<String> {
        Ok(String::new())
    }
}

fn main() {
    let client = Client {
        limit: Duration::ZERO,
    };
    let _ = client.fetch();
}
