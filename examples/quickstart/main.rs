//! An annotated function against a real server that refuses, stalls and fails before it succeeds.
//!
//! ```text
//! cargo run --example quickstart
//! ```
//!
//! The lines that begin with DEBUG, INFO and WARN are the library's own events, as your program's log
//! would show them.

mod server;

use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reattempt::retry;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::server::{Behaviour, Server};

#[retry(
    attempts = 4,
    timeout = "1.5s",
    jitter = "full",
    on = "io::Error",
    deadline = "5s"
)]
async fn fetch(addr: SocketAddr) -> io::Result<String> {
    println!("  → GET http://{addr}/");
    let mut stream = TcpStream::connect(addr).await?;
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await?;
    let (head, body) = reply
        .split_once("\r\n\r\n")
        .ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        status => Err(io::Error::other(format!(
            "HTTP status {}",
            status.unwrap_or("missing")
        ))),
    }
}

/// The same call, for a caller who waits at most one second.
#[retry(attempts = 10, timeout = "400ms", on = "io::Error", deadline = "1s")]
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
    // At first no server listens, so the first attempt is refused.
    let task = tokio::spawn(server.listen_after(
        Duration::from_millis(1),
        vec![
            Behaviour::Stall,
            Behaviour::Unavailable,
            Behaviour::Answer("hello"),
        ],
    ));
    let began = Instant::now();
    let body = fetch(addr).await?;
    println!("  = {body:?} after {:.1?}\n", began.elapsed());
    task.abort();

    println!("A server that accepts and never answers, called with a deadline of one second:");
    let server = Server::reserve()?;
    let addr = server.addr();
    let task = tokio::spawn(server.listen_after(Duration::ZERO, vec![Behaviour::Stall]));
    // Gives the server time to listen.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let began = Instant::now();
    match fetch_quickly(addr).await {
        Ok(reply) => println!("  = {reply:?}"),
        Err(error) => println!("  = {error} (after {:.1?})", began.elapsed()),
    }
    task.abort();
    Ok(())
}
