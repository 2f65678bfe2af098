//! expect: `Response<Body>` is used up by the first attempt, and it is not `Clone`

use std::io;

use reattempt::retry;

struct Body;

struct Response<B>(B);

#[retry]
async fn store(response: Response<Body>) -> io::Result<usize> {
    Ok(size_of(response))
}

fn size_of<B>(response: Response<B>) -> usize {
    let Response(_) = response;
    1
}

fn main() {}
