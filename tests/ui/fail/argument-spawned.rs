//! expect: `name` does not live long enough

use std::io;

use reattempt::retry;

async fn send(name: &str) -> io::Result<usize> {
    Ok(name.len())
}

#[retry]
async fn run(name: String) -> io::Result<usize> {
    tokio::spawn(async { send(&name).await }).await?
}

fn main() {
    drop(run(String::new()));
}
