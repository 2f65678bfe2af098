//! expect: `Option<u32>` is not a `Result`, so there is nothing to retry on

use reattempt::retry;

type Answer = Option<u32>;

#[retry]
async fn fetch() -> Answer {
    None
}

fn main() {
    drop(fetch());
}
