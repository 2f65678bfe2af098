//! Each adapter against the real thing. A package of its own, so that the facade's tests and examples
//! are built without the clients and servers that these need.
//!
//! The library starts the servers, for the tests and for the examples.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

pub mod grpc;
pub mod ledger;
pub mod loopback;
pub mod mariadb;
pub mod postgres;
pub mod program;
pub mod redis;
pub mod suite;

/// How long a server may take to begin to answer, on a machine that is busy with other things.
const STARTS_WITHIN: Duration = Duration::from_secs(90);

/// A port of loopback that is free at the moment. Somebody else may take it before the server does,
/// which then ends, and is started again on another one.
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

/// Compiles the page on migrating. It is in this package because it needs a client.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/MIGRATING.md")]
struct Migrating;
