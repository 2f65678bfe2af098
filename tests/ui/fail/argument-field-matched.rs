//! expect: a field of type `Option<String>` is moved out of an argument, and each attempt needs it again
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
