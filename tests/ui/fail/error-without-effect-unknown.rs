//! expect: with `idempotent = false`, only a verdict says that an attempt had no effect, and `String` has none

use reattempt::retry;

#[retry(attempts = 4, idempotent = false, when = |error| error == "busy")]
async fn fetch() -> Result<u8, String> {
    Err("busy".to_owned())
}

fn main() {}
