//! A service that is shut down while its calls are being retried. Each call stops at once, in an attempt or in a wait,
//! and returns that it was cancelled.
//!
//! ```text
//! cargo run -p integrations --example shutdown
//! ```
//!
//! In a program of your own, `tokio::signal::ctrl_c()` would cancel the token.

use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reattempt::{Outcome, Stopped, retry};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Reads work from a queue.
#[retry(
    attempts = 10,
    timeout = "30s",
    base = "10s",
    jitter = "equal",
    cancel = shutdown.cancelled(),
)]
async fn next_job(queue: SocketAddr, shutdown: &CancellationToken) -> io::Result<String> {
    let mut job = String::new();
    let mut stream = TcpStream::connect(queue).await?;
    stream.read_to_string(&mut job).await?;
    Ok(job)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    // One queue accepts and never answers. No server listens at the other address.
    let stalling = TcpListener::bind("127.0.0.1:0").await?;
    let closed = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;

    let shutdown = CancellationToken::new();
    let workers = TaskTracker::new();
    let mut ended = Vec::new();
    for (name, queue) in [
        ("in an attempt", stalling.local_addr()?),
        ("in a wait", closed),
    ] {
        let shutdown = shutdown.clone();
        let worker = workers.spawn(async move { next_job(queue, &shutdown).await });
        ended.push((name, worker));
    }
    workers.close();

    tokio::time::sleep(Duration::from_millis(300)).await;
    println!("Shutting down, with {} calls under way.", workers.len());
    let began = Instant::now();
    shutdown.cancel();
    workers.wait().await;
    println!("All calls stopped after {:.0?}.", began.elapsed());
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "no wait is waited out"
    );

    for (name, worker) in ended {
        let error = worker.await?.unwrap_err();
        // The error says that the call was cancelled. Its source is the error of the last attempt.
        let stopped = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Stopped>());
        println!("  the call {name}: {error}");
        let outcome = stopped.map(Stopped::outcome);
        assert_eq!(outcome, Some(Outcome::Cancelled));
        let last = stopped.and_then(|stopped| stopped.source());
        if let Some(last) = last {
            println!("    its last attempt: {last}");
        }
        assert_eq!(last.is_some(), name == "in a wait");
    }

    let error = next_job(closed, &shutdown).await.unwrap_err();
    println!("A call that begins now makes no attempt: {error}");
    Ok(())
}
