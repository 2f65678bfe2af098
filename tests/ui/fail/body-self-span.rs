//! expect: no field `adress` on type `&Client`

use std::io;

use reattempt::retry;

struct Client {
    address: String,
}

impl Client {
    #[retry(attempts = 4)]
    async fn fetch(&self) -> io::Result<usize> {
        Ok(self.adress.len())
    }
}

fn main() {
    let client = Client {
        address: String::new(),
    };
    drop(client.address);
}
