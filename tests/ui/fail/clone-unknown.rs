//! expect: `fetch` has no argument `reqest`

use std::io;

use reattempt::retry;

#[retry(clone(reqest))]
async fn fetch(request: String) -> io::Result<usize> {
    Ok(request.len())
}

fn main() {}
