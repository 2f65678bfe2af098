//! Policies by name: the two that come with the library, one of your own, and an override.
//!
//! ```text
//! cargo run --example presets
//! ```

use std::io;
use std::time::Duration;

use reattempt::{FAST_IO, Jitter, Policy, SLOW_IO, retry};

/// A policy of your own: a constant that the whole program shares.
const PAYMENTS: Policy = Policy::new()
    .with_attempts(4)
    .with_timeout(Duration::from_millis(800))
    .with_deadline(Duration::from_secs(3))
    .with_jitter(Jitter::Equal);

/// A cache answers in milliseconds.
#[retry(policy = FAST_IO)]
async fn read_cache(calls: &mut u32) -> io::Result<&'static str> {
    fail_until(2, calls)
}

/// A report takes seconds.
#[retry(policy = SLOW_IO, base = "20ms")]
async fn make_report(calls: &mut u32) -> io::Result<&'static str> {
    fail_until(4, calls)
}

#[retry(policy = PAYMENTS)]
async fn pay(calls: &mut u32) -> io::Result<&'static str> {
    fail_until(3, calls)
}

/// Uses `PAYMENTS` with more attempts.
#[retry(policy = PAYMENTS, attempts = 6, base = "10ms")]
async fn refund(calls: &mut u32) -> io::Result<&'static str> {
    fail_until(6, calls)
}

fn fail_until(success: u32, calls: &mut u32) -> io::Result<&'static str> {
    *calls += 1;
    if *calls < success {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok("done")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    for (name, policy) in [
        ("FAST_IO", FAST_IO),
        ("SLOW_IO", SLOW_IO),
        ("PAYMENTS", PAYMENTS),
    ] {
        println!("{name}\n{policy}\n");
    }
    let mut calls = 0;
    let done = read_cache(&mut calls).await?;
    println!("read_cache   {done} after {calls} attempts");
    calls = 0;
    let done = make_report(&mut calls).await?;
    println!("make_report  {done} after {calls} attempts");
    calls = 0;
    let done = pay(&mut calls).await?;
    println!("pay          {done} after {calls} attempts");
    calls = 0;
    let done = refund(&mut calls).await?;
    println!("refund       {done} after {calls} attempts");
    Ok(())
}
