//! expect: `Body` is used up by the first attempt, and it is not `Clone`

use std::io;

use reattempt::retry;

struct Body(Vec<u8>);

#[retry(clone(body))]
async fn send(body: Body) -> io::Result<usize> {
    Ok(body.0.len())
}

fn main() {}
