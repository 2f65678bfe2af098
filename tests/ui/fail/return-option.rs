//! expect: this function returns `Option<u32>`, expected a `Result`

use reattempt::retry;

#[retry]
async fn fetch() -> Option<u32> {
    None
}

fn main() {
    drop(fetch());
}
