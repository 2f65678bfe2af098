//! A ledger that commits an entry and may answer late, which makes a retry dangerous.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::loopback::{listener, read_head};
use crate::stall;

/// The server, over HTTP on loopback. It ends with its runtime.
#[derive(Debug)]
pub struct Ledger {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
}

#[derive(Debug, Default)]
struct Book {
    /// The key of each request, in the order in which they came.
    requests: Vec<Option<String>>,
    /// The key of each entry.
    entries: Vec<Option<String>>,
}

impl Book {
    /// Books an entry, unless its key was booked before. Returns the number of the request.
    fn book(&mut self, key: Option<String>) -> usize {
        let known = key.is_some() && self.entries.contains(&key);
        if !known {
            self.entries.push(key.clone());
        }
        self.requests.push(key);
        self.requests.len()
    }
}

impl Ledger {
    /// Starts it on a free port. It books the first `unanswered` requests, and does not answer them.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(unanswered: usize) -> Self {
        Self::start_with(listener().await, unanswered, false)
    }

    /// The same, but time is [skipped](crate::skip) as soon as it has booked a request that it does not answer.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start_skipping(unanswered: usize) -> Self {
        Self::start_with(listener().await, unanswered, true)
    }

    /// Starts it on this socket. It answers each request.
    ///
    /// # Panics
    ///
    /// If the socket cannot listen.
    #[must_use]
    pub fn start_on(socket: TcpSocket) -> Self {
        Self::start_with(socket.listen(1024).unwrap(), 0, false)
    }

    fn start_with(listener: TcpListener, unanswered: usize, skips: bool) -> Self {
        let address = listener.local_addr().unwrap();
        let book = Arc::new(Mutex::new(Book::default()));
        let shared = Arc::clone(&book);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, Arc::clone(&shared), unanswered, skips));
            }
        });
        Self { address, book }
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/payments", self.address)
    }

    /// The number of entries.
    ///
    /// # Panics
    ///
    /// If the server has panicked.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.book.lock().unwrap().entries.len()
    }

    /// The idempotency key of each request, in the order in which they came.
    ///
    /// # Panics
    ///
    /// If the server has panicked.
    #[must_use]
    pub fn keys(&self) -> Vec<Option<String>> {
        self.book.lock().unwrap().requests.clone()
    }
}

async fn serve(mut connection: TcpStream, book: Arc<Mutex<Book>>, unanswered: usize, skips: bool) {
    let Some((head, _)) = read_head(&mut connection).await else {
        return;
    };
    let key = head
        .lines()
        .find_map(|line| line.strip_prefix("idempotency-key: "))
        .map(str::to_owned);
    // The entry is booked before the client gets an answer.
    let number = book.lock().unwrap().book(key);
    if number <= unanswered {
        match stall(skips).await {}
    }
    let answer = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // A client that has gone does not read it.
    let _: std::io::Result<()> = connection.write_all(answer).await;
}
