//! expect: found `trait`, expected an async function

use std::future::Future;
use std::io;

use reattempt::retry;

#[retry]
trait Client {
    fn fetch(&self) -> impl Future<Output = io::Result<u8>>;
}

fn main() {}
