//! An annotated function against a real server that refuses, stalls and fails before it succeeds. Its error type says which
//! failures are worth another attempt.
//!
//! ```text
//! cargo run --example quickstart
//! ```
//!
//! The lines that begin with DEBUG, INFO and WARN are the library's own events, as your program's log
//! would show them.

mod server;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use reattempt::{Retryable, Stopped, codes, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::server::{Behaviour, Server};

#[derive(Debug, thiserror::Error, Retryable)]
enum FetchError {
    /// As the `io::Error` says: another attempt may find the server up.
    #[error("no answer")]
    #[retryable(forward)]
    Io(#[from] io::Error),
    /// As the status says: 503 is worth another attempt, 404 is not.
    #[error("HTTP status {0}")]
    #[retryable(with = "codes::http_status")]
    Status(u16),
    #[error("no answer in time")]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

#[retry(attempts = 4, timeout = "1.5s", jitter = "full", deadline = "5s")]
async fn fetch(addr: SocketAddr) -> Result<String, FetchError> {
    println!("  → GET http://{addr}/");
    let mut stream = TcpStream::connect(addr).await?;
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await?;
    let (head, body) = reply
        .split_once("\r\n\r\n")
        .ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
    match status.ok_or(io::Error::from(io::ErrorKind::InvalidData))? {
        200 => Ok(body.to_owned()),
        status => Err(FetchError::Status(status)),
    }
}

/// The same call, for a caller who waits at most one second.
#[retry(attempts = 10, timeout = "400ms", deadline = "1s")]
async fn fetch_quickly(addr: SocketAddr) -> io::Result<String> {
    println!("  → GET http://{addr}/");
    let mut stream = TcpStream::connect(addr).await?;
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await?;
    Ok(reply)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(io::stdout)
        .init();

    println!("A server that is down, then stalls, then is overloaded, and then answers:");
    let server = Server::reserve()?;
    let addr = server.addr();
    // No server listens before this task waits for the first time, so the first attempt is refused.
    let task = tokio::spawn(server.listen(vec![
        Behaviour::Stall,
        Behaviour::Unavailable,
        Behaviour::Answer("hello"),
    ]));
    let began = Instant::now();
    let body = fetch(addr).await?;
    println!("  = {body:?} after {:.1?}\n", began.elapsed());
    task.abort();

    println!("A server that accepts and never answers, called with a deadline of one second:");
    let server = Server::reserve()?;
    let addr = server.addr();
    let task = tokio::spawn(server.listen(vec![Behaviour::Stall]));
    // Lets the server listen.
    tokio::task::yield_now().await;
    let began = Instant::now();
    match fetch_quickly(addr).await {
        Ok(reply) => println!("  = {reply:?}"),
        Err(error) => println!("  = {error} (after {:.1?})", began.elapsed()),
    }
    task.abort();
    Ok(())
}
