//! expect: cannot move out of `request.body` which is behind a shared reference

use std::io;

use reattempt::retry;

struct Request {
    id: u32,
    body: Vec<u8>,
}

#[retry]
async fn send(request: Request) -> io::Result<usize> {
    Ok(into_text(request.id, request.body).len())
}

fn into_text(id: u32, body: Vec<u8>) -> String {
    format!("{id} {}", String::from_utf8_lossy(&body))
}

fn main() {}
