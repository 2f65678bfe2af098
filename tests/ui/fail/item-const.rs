//! expect: a `const fn` cannot be retried, expected an async function

use reattempt::retry;

#[retry]
const fn fetch() -> Result<u8, u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
