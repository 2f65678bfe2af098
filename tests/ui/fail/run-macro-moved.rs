//! expect: use of moved value

use std::io;

use reattempt::run;

async fn store(_: String) -> io::Result<u8> {
    Ok(1)
}

async fn call(text: String) {
    let _ = run!(attempts = 3, async || store(text).await).await;
}

fn main() {
    let _ = call(String::new());
}
