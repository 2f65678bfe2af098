//! expect: cannot move out of `request.body` as enum variant `Some` which is behind a shared reference
use std::io;

use reattempt::retry;

struct Request {
    body: Option<String>,
}

#[retry]
async fn send(request: Request) -> io::Result<String> {
    match request.body {
        Some(text) => Ok(text),
        None => Ok(String::new()),
    }
}

fn main() {}
