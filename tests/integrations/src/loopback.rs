//! A server on loopback that answers by a script. Each connection takes one entry of the script.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::stall;

/// The answer of the server to a connection.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Resets the connection after it read the request.
    Reset,
    /// Closes the connection after it read the request.
    Close,
    /// Sends nothing, and keeps the connection open.
    Stall,
    /// Sends these bytes, and then closes the connection.
    Bytes(&'static [u8]),
    /// Sends these bytes, and then resets the connection.
    BytesThenReset(&'static [u8]),
    /// Sends these bytes, and then nothing more.
    BytesThenStall(&'static [u8]),
}

/// The answer after the end of the script.
pub const OK: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ndone");

/// The server. It ends with its runtime.
#[derive(Debug)]
pub struct Loopback {
    /// The address at which it listens.
    pub address: SocketAddr,
    calls: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Loopback {
    /// Starts it on a free port. Connections beyond the script get [`OK`].
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(script: &'static [Answer]) -> Self {
        Self::start_with(script, false).await
    }

    /// The same, but time is [skipped](crate::skip) as soon as an answer stalls.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start_skipping(script: &'static [Answer]) -> Self {
        Self::start_with(script, true).await
    }

    async fn start_with(script: &'static [Answer], skips: bool) -> Self {
        let listener = listener().await;
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let requests = Arc::new(Mutex::default());
        let read = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let call = counted.fetch_add(1, Ordering::Relaxed);
                let answer = script.get(call).copied().unwrap_or(OK);
                tokio::spawn(serve(stream, answer, skips, Arc::clone(&read)));
            }
        });
        Self {
            address,
            calls,
            requests,
        }
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The number of connections so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The head of each request that the server read, in lower case.
    ///
    /// # Panics
    ///
    /// If the server has panicked.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(_, head)| head.clone()).collect()
    }

    /// When the server had read each request.
    ///
    /// # Panics
    ///
    /// If the server has panicked.
    #[must_use]
    pub fn times(&self) -> Vec<Instant> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(time, _)| *time).collect()
    }
}

/// An address at which no server listens.
///
/// # Panics
///
/// If no port is free.
#[must_use]
pub fn nobody() -> SocketAddr {
    let (address, socket) = later();
    // While this process runs, nobody else gets the port.
    std::mem::forget(socket);
    address
}

/// A socket that listens on a free port.
pub(crate) async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// An address at which no server listens yet, and the socket with which one can.
///
/// # Panics
///
/// If no port is free.
#[must_use]
pub fn later() -> (SocketAddr, TcpSocket) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (socket.local_addr().unwrap(), socket)
}

async fn serve(
    mut stream: TcpStream,
    answer: Answer,
    skips: bool,
    read: Arc<Mutex<Vec<(Instant, String)>>>,
) {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend_from_slice(&chunk[..length]),
        }
    }
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    read.lock().unwrap().push((Instant::now(), head));
    let (bytes, end) = match answer {
        Answer::Reset => (&b""[..], End::Reset),
        Answer::Close => (&b""[..], End::Close),
        Answer::Stall => (&b""[..], End::Stall),
        Answer::Bytes(bytes) => (bytes, End::Close),
        Answer::BytesThenReset(bytes) => (bytes, End::Reset),
        Answer::BytesThenStall(bytes) => (bytes, End::Stall),
    };
    stream.write_all(bytes).await.unwrap();
    match end {
        End::Close => stream.shutdown().await.unwrap(),
        End::Reset => {
            // The reset would overtake the bytes, which the client has to see first.
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.set_zero_linger().unwrap();
        }
        End::Stall => match stall(skips).await {},
    }
}

enum End {
    Close,
    Reset,
    Stall,
}
