//! The bodies, and the annotated functions over them.

use std::future::poll_fn;
use std::hint::black_box;
use std::io;
use std::task::Poll;

use reattempt::{Attempt, retry};

/// Ready at once.
pub(crate) async fn work(input: u64) -> io::Result<u64> {
    Ok(black_box(input) + 1)
}

/// Pending once, and woken at once.
pub(crate) async fn work_pending(input: u64) -> io::Result<u64> {
    let mut polled = false;
    poll_fn(|context| {
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    Ok(black_box(input) + 1)
}

/// Fails twice out of three times.
pub(crate) async fn work_failing(input: u64, calls: &mut u32) -> io::Result<u64> {
    *calls += 1;
    if *calls % 3 != 0 {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(black_box(input) + 1)
}

pub(crate) async fn plain(input: u64) -> io::Result<u64> {
    work(input).await
}

#[retry(
    attempts = 4,
    timeout = "1.5s",
    jitter = "full",
    on = "io::Error",
    deadline = "5s"
)]
pub(crate) async fn timed(input: u64) -> io::Result<u64> {
    work(input).await
}

#[retry(attempts = 4, jitter = "full", on = "io::Error")]
pub(crate) async fn untimed(input: u64) -> io::Result<u64> {
    work(input).await
}

/// Learns its number and the attempts that it may make.
#[retry(attempts = 4, jitter = "full", on = "io::Error")]
pub(crate) async fn asking(input: u64) -> io::Result<u64> {
    let attempt = Attempt::current().map_or(0, |attempt| attempt.number());
    work(input + u64::from(attempt)).await
}

#[retry(
    attempts = 4,
    timeout = "1.5s",
    jitter = "full",
    on = "io::Error",
    deadline = "5s"
)]
pub(crate) async fn timed_pending(input: u64) -> io::Result<u64> {
    work_pending(input).await
}

#[retry(attempts = 4, jitter = "full", on = "io::Error")]
pub(crate) async fn untimed_pending(input: u64) -> io::Result<u64> {
    work_pending(input).await
}

pub(crate) async fn failing(input: u64) -> io::Result<u64> {
    #[retry(attempts = 4, base = "0s", on = "io::Error", deadline = "5s")]
    async fn retried(input: u64, calls: &mut u32) -> io::Result<u64> {
        work_failing(input, calls).await
    }
    retried(input, &mut 0).await
}
