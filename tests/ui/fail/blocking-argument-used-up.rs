//! expect: `Upload` is used up by the first attempt, and it is not `Clone`

use std::io;

use reattempt::retry;

struct Upload;

fn send(_upload: Upload) -> io::Result<()> {
    Ok(())
}

#[retry(blocking)]
fn post(upload: Upload) -> io::Result<()> {
    send(upload)
}

fn main() {
    drop(post(Upload));
}
