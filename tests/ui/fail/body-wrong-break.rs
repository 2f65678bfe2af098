//! expect: `break` inside `async` block

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch(ready: bool) -> io::Result<u32> {
    if !ready {
        break;
    }
    Ok(0)
}

fn main() {}
