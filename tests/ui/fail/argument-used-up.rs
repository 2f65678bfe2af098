//! expect: `Body` is used up by the first attempt, and it is not `Clone`

use std::io;

use reattempt::retry;

struct Body(Vec<u8>);

#[retry(attempts = 4)]
async fn send(body: Body) -> io::Result<usize> {
    Ok(into_bytes(body).len())
}

fn into_bytes(body: Body) -> Vec<u8> {
    body.0
}

fn main() {}
