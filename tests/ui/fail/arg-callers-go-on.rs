//! expect: unknown key `atempts`

// One mistake in an attribute gives one error. Callers and the trait's other methods still compile.

use std::future::Future;
use std::io;

use reattempt::retry;

trait Store {
    fn read(&self, key: &str) -> impl Future<Output = io::Result<String>>;
}

struct Disk;

impl Store for Disk {
    #[retry(atempts = 4)]
    async fn read(&self, key: &str) -> io::Result<String> {
        Ok(key.to_owned())
    }
}

async fn caller(store: &Disk) -> io::Result<usize> {
    let text: String = store.read("x").await?;
    Ok(text.len())
}

fn main() {
    drop(caller(&Disk));
}
