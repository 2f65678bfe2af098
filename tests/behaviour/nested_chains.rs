//! A retried function that calls itself, and always fails: the retries of the chain add.

use std::cell::Cell;
use std::io;

use futures::future::LocalBoxFuture;
use reattempt::retry;

/// A call of nested functions around a body that always fails. A slice gives the attempts of each level.
type Levels<'a> = LocalBoxFuture<'a, io::Result<()>>;

#[retry(attempts = levels[0], base = "1ms", budget = "none")]
async fn again(levels: &[u32], calls: &Cell<u32>) -> io::Result<()> {
    itself(&levels[1..], calls).await
}

async fn fails(calls: &Cell<u32>) -> io::Result<()> {
    calls.set(calls.get() + 1);
    tokio::task::yield_now().await;
    Err(io::ErrorKind::ConnectionReset.into())
}

/// Calls the same function at every level.
fn itself<'a>(levels: &'a [u32], calls: &'a Cell<u32>) -> Levels<'a> {
    match levels.len() {
        0 => Box::pin(fails(calls)),
        _ => Box::pin(again(levels, calls)),
    }
}

async fn calls_of<'a>(
    chain: impl FnOnce(&'a Cell<u32>) -> Levels<'a>,
    calls: &'a Cell<u32>,
) -> u32 {
    chain(calls).await.unwrap_err();
    calls.get()
}

/// All lists of this length with numbers from 2 to 5.
fn lists(length: usize) -> Vec<Vec<u32>> {
    (0..length).fold(vec![Vec::new()], |shorter, _| {
        let longer = |list: Vec<u32>| (2..=5).map(move |last| [&list[..], &[last]].concat());
        shorter.into_iter().flat_map(longer).collect()
    })
}

/// The number of calls by the rule: one call, and the retries of each function once.
fn sum_of(levels: &[u32]) -> u32 {
    1 + levels.iter().map(|attempts| attempts - 1).sum::<u32>()
}

#[tokio::test(start_paused = true)]
async fn a_function_that_calls_itself_adds_at_every_depth() {
    for levels in (1..=4).flat_map(lists) {
        let calls = Cell::new(0);
        let made = calls_of(|calls| itself(&levels, calls), &calls).await;
        assert_eq!(made, sum_of(&levels), "{levels:?}");
    }
    let deep = [3; 30];
    let calls = Cell::new(0);
    assert_eq!(calls_of(|calls| itself(&deep, calls), &calls).await, 61);
}
