//! expect: use of moved value

use std::io;

use reattempt::retry;

#[derive(Clone)]
struct Request {
    body: Vec<u8>,
}

#[retry]
async fn send(request: Request) -> io::Result<usize> {
    Ok(into_text(request.body).len())
}

fn into_text(body: Vec<u8>) -> String {
    String::from_utf8_lossy(&body).into_owned()
}

fn main() {}
