//! expect: unused implementer of `Future` that must be used
#![deny(unused_must_use)]
use reattempt::retry;

async fn note() {}

#[retry(on_retry = |_| { note(); })]
async fn fetch() -> std::io::Result<()> {
    Ok(())
}

fn main() {
    let _ = fetch;
}
