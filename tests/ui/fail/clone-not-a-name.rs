//! expect: found `request.body`, expected the name of an argument

use std::io;

use reattempt::retry;

#[retry(clone(request.body))]
async fn fetch(request: String) -> io::Result<usize> {
    Ok(request.len())
}

fn main() {}
