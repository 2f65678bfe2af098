//! expect: this lint expectation is unfulfilled

#![deny(unfulfilled_lint_expectations)]

use std::io;

use reattempt::retry;

#[expect(dead_code)]
#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
