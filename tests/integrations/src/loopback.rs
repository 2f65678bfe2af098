//! A server on loopback that answers by a script. Each connection takes one entry of the script.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
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

/// Starts a server on a free port, which answers by the head of a request, in lower case, and its body. Each connection takes one
/// request, and is closed without an answer if there is none. The server ends with its runtime.
///
/// # Panics
///
/// If no port is free.
pub async fn answer_by(
    answer: impl Fn(&str, &[u8]) -> Option<String> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = listener().await;
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let (head, mut body) = read_head(&mut stream).await?;
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                let length = length.map_or(0, |length| length.parse().unwrap());
                while body.len() < length {
                    stream.read_buf(&mut body).await.unwrap();
                }
                // A client that has gone does not read it.
                stream
                    .write_all(answer(&head, &body)?.as_bytes())
                    .await
                    .ok()
            });
        }
    });
    address
}

/// A server of HTTP/2 that goes away when it has the head of a request, in the bytes of RFC 9113. It ends with its runtime.
#[derive(Debug)]
pub struct GoesAway {
    /// The address at which it listens.
    pub address: SocketAddr,
    calls: Arc<AtomicUsize>,
}

impl GoesAway {
    /// Starts it on a free port. On each of the first connections it sends `GOAWAY` with this last stream and this reason,
    /// and closes. The request is stream 1. Later connections answer it with 200.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(script: &'static [(u8, u8)]) -> Self {
        let listener = listener().await;
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let call = counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(go_away(stream, script.get(call).copied()));
            }
        });
        Self { address, calls }
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
}

async fn go_away(mut stream: TcpStream, with: Option<(u8, u8)>) -> io::Result<()> {
    const HEADERS: u8 = 1;
    // Its own settings, which are empty, and the acknowledgement of those of the client.
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0];
    stream.write_all(&settings).await?;
    stream.read_exact(&mut [0; 24]).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [_, high, low, kind, ..] = head;
        let mut payload = vec![0; usize::from(u16::from_be_bytes([high, low]))];
        stream.read_exact(&mut payload).await?;
        if kind == HEADERS {
            break;
        }
    }
    match with {
        Some((last, reason)) => {
            let frame = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, last, 0, 0, 0, reason];
            stream.write_all(&frame).await?;
        }
        // The head of a response, which is its end: `:status: 200`.
        None => stream.write_all(&[0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88]).await?,
    }
    stream.shutdown().await?;
    while stream.read(&mut [0; 512]).await? > 0 {}
    Ok(())
}

/// An address at which no server listens.
///
/// # Panics
///
/// If no port is free.
#[must_use]
pub fn nobody() -> SocketAddr {
    let (address, socket) = later();
    // While this process runs, no other socket gets the port.
    std::mem::forget(socket);
    address
}

/// A connection whose packets a firewall rejects as soon as the server hangs up: each read fails as the kernel lets it fail then.
#[derive(Debug)]
pub struct Rejected(pub TcpStream);

impl Connection for Rejected {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Rejected {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(context, buffer))?;
        let is_end = buffer.filled().len() == filled;
        Poll::Ready(if is_end {
            Err(io::ErrorKind::ConnectionRefused.into())
        } else {
            Ok(())
        })
    }
}

impl AsyncWrite for Rejected {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
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

/// Reads the head of a request, in lower case, and what has come of its body. `None` if the connection ends before.
pub(crate) async fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut request = Vec::new();
    loop {
        if let Some(length) = request.windows(4).position(|end| end == b"\r\n\r\n") {
            let body = request.split_off(length + 4);
            let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
            return Some((head, body));
        }
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: Answer,
    skips: bool,
    read: Arc<Mutex<Vec<(Instant, String)>>>,
) {
    let Some((head, _)) = read_head(&mut stream).await else {
        return;
    };
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
