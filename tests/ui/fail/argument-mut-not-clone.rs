//! expect: `Body` is used up by the first attempt, and it is not `Clone`

use std::io;

use reattempt::retry;

struct Body(Vec<u8>);

#[retry(attempts = 4)]
async fn send(mut body: Body) -> io::Result<usize> {
    body.0.push(0);
    Ok(body.0.len())
}

fn main() {}
