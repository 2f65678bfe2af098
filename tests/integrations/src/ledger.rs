//! A ledger that commits an entry and may answer late, which makes a retry dangerous.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

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
        Self::start_at("127.0.0.1:0".parse().unwrap(), unanswered).await
    }

    /// The same at this address.
    ///
    /// # Panics
    ///
    /// If the address is taken.
    pub async fn start_at(address: SocketAddr, unanswered: usize) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let book = Arc::new(Mutex::new(Book::default()));
        let shared = Arc::clone(&book);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, Arc::clone(&shared), unanswered));
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

async fn serve(mut connection: TcpStream, book: Arc<Mutex<Book>>, unanswered: usize) {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        match connection.read_buf(&mut request).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    let key = head
        .lines()
        .find_map(|line| line.strip_prefix("idempotency-key: "))
        .map(str::to_owned);
    // The entry is booked before the client gets an answer.
    let number = book.lock().unwrap().book(key);
    if number <= unanswered {
        std::future::pending::<()>().await;
    }
    let answer = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    // A client that has gone does not read it.
    let _: std::io::Result<()> = connection.write_all(answer).await;
}
