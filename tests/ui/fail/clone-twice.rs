//! expect: `request` is in `clone` twice

use std::io;

use reattempt::retry;

#[retry(clone(request, request))]
async fn fetch(request: String) -> io::Result<usize> {
    Ok(request.len())
}

fn main() {}
