//! expect: unknown word `temporary`
//! errors: 5

use std::time::Duration;

#[derive(reattempt::Retryable)]
enum Error {
    #[retryable(temporary)]
    One,
    #[retryable(throttled, after = "wiat", crate = "a")]
    Two { wait: Duration },
    #[retryable(forward)]
    Three,
    Four,
}

// The type still has a verdict, so this gives no sixth error.
fn main() {
    fn retryable<E: reattempt::Retryable>() {}
    retryable::<Error>();
}
