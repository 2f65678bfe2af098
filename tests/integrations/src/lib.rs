//! Tests each adapter against the real client and server. This is its own package, so that the tests and examples
//! of the facade build without these clients and servers.
//!
//! The library starts the servers for the tests and the examples.

use std::convert::Infallible;
use std::future::pending;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::FutureExt as _;

pub mod commit_proxy;
pub mod document;
pub mod grpc;
pub mod ledger;
pub mod loopback;
pub mod mariadb;
pub mod nats;
pub mod pgbouncer;
pub mod postgres;
pub mod process;
pub mod program;
pub mod proxy;
pub mod redis;
pub mod suite;
pub mod upstream;
pub mod written;

/// What [`skip`] is for: more than the longest limit that a test expects to be reached, and less than all others.
pub const SKIPPED: Duration = Duration::from_secs(30);

/// Lets [`SKIPPED`] pass at once for all timers of this runtime, which must have one thread.
///
/// A test that wants a limit to be reached need not wait for it then, so the limit can be one that no machine reaches by
/// being slow.
///
/// # Panics
///
/// If the runtime has several threads, or its clock is paused.
pub async fn skip() {
    tokio::time::pause();
    // Nothing else runs before the clock goes on.
    let _ = tokio::time::advance(SKIPPED).now_or_never();
    tokio::time::resume();
    tokio::task::yield_now().await;
}

/// Never answers. With `skips`, time is [skipped](skip) first.
///
/// # Panics
///
/// - As [`skip`].
pub(crate) async fn stall(skips: bool) -> Infallible {
    if skips {
        skip().await;
    }
    pending().await
}

/// Asks every 5 ms until it `holds`.
///
/// # Panics
///
/// If it does not within 90 s.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < STARTS_WITHIN, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How long a server may take until it answers, on a busy machine.
const STARTS_WITHIN: Duration = Duration::from_secs(90);

/// A port of loopback that is free at the moment. Another program may take it before the server does. The server
/// then ends, and is started again on another port.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn run(command: &mut Command) {
    let output = command.current_dir("/").output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// Compiles the code of the README, which needs a client.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The same for the page on migrating.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/MIGRATING.md")]
struct Migrating;

/// The same for the page on deadlines, which has a server.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/deadlines.md")]
struct Deadlines;

/// The same for the page on clients.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/clients.md")]
struct Clients;

/// The same for the page on databases.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/databases.md")]
struct Databases;

/// The same for the page on messages, which has a bank.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/messages.md")]
struct Messages;

/// The same for the page on layers.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/layers.md")]
struct Layers;

/// The same for the page on progress.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/progress.md")]
struct Progress;

/// The same for the page on idempotency, which has a server too.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/idempotency.md")]
struct Idempotency;

/// The same for the page on tests, which has a service.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/testing.md")]
struct Testing;
