//! expect: `F` cannot be sent between threads safely
//! errors: 2
use std::fmt::Display;

use reattempt::{FAST_IO, Retryable, Stopped};

async fn with_retry<E, F, A>(operation: F) -> Result<u8, E>
where
    E: Retryable + From<Stopped> + Display + Send,
    F: FnMut() -> A,
    A: Future<Output = Result<u8, E>>,
{
    FAST_IO.run(operation).await
}

fn main() {
    let _ = with_retry(async || std::io::Result::Ok(7));
}
