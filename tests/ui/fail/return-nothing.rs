//! expect: this function returns nothing, expected a `Result`

use reattempt::retry;

#[retry]
async fn fetch() {}

fn main() {
    drop(fetch());
}
