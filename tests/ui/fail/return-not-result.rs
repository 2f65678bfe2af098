//! expect: this function returns `u32`, expected a `Result`

use reattempt::retry;

#[retry]
async fn fetch() -> u32 {
    0
}

fn main() {
    drop(fetch());
}
