//! expect: `delays` does not live long enough
//!
//! A policy borrows nothing. A run takes delays that are computed at run time.
use std::io;
use std::time::Duration;

use reattempt::Policy;

const POLICY: Policy = Policy::new();

async fn call() -> io::Result<u8> {
    let delays: Vec<_> = (1..=3).map(Duration::from_millis).collect();
    POLICY.with_delays(&delays).run(async || io::Result::Ok(7)).await
}

fn main() {
    drop(call());
}
