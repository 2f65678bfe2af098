//! A server of HTTP/1 or HTTP/2 in this process that keeps its connections open, and that can be killed.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpSocket;
use tokio::task::{JoinHandle, JoinSet};

/// The answer to each request. The first call is number 0.
pub type Answers = fn(call: usize, request: &Request<Incoming>) -> Response<Full<Bytes>>;

/// Which version of HTTP the server speaks.
#[derive(Clone, Copy, Debug)]
pub enum Version {
    /// HTTP/1.1.
    One,
    /// HTTP/2 without TLS, with at most so many streams at a time on a connection.
    Two(u32),
}

/// The server. It ends with its runtime, or when it is killed.
#[derive(Debug)]
pub struct Upstream {
    /// The address at which it listens.
    pub address: SocketAddr,
    calls: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Upstream {
    /// Starts it on a free port.
    ///
    /// # Panics
    ///
    /// If no port is free.
    #[must_use]
    pub fn start(version: Version, answers: Answers) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), version, answers)
    }

    /// Starts it at this address, at which another one may have been killed.
    ///
    /// # Panics
    ///
    /// If the address is taken.
    #[must_use]
    pub fn start_at(address: SocketAddr, version: Version, answers: Answers) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(address).unwrap();
        let listener = socket.listen(1024).unwrap();
        let address = listener.local_addr().unwrap();
        let calls: Arc<AtomicUsize> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let (counted, connected) = (Arc::clone(&calls), Arc::clone(&connections));
        let serving = tokio::spawn(async move {
            // Dropped with this task, and all connections with it.
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connected.fetch_add(1, Ordering::Relaxed);
                let calls = Arc::clone(&counted);
                let service = service_fn(move |request| {
                    let call = calls.fetch_add(1, Ordering::Relaxed);
                    let response = answers(call, &request);
                    async move { Ok::<_, Infallible>(response) }
                });
                let stream = TokioIo::new(stream);
                open.spawn(async move {
                    // A client that goes away is no error of the server.
                    let _ = match version {
                        Version::One => {
                            let server = http1::Builder::new();
                            server.serve_connection(stream, service).await
                        }
                        Version::Two(streams) => {
                            let mut server = http2::Builder::new(TokioExecutor::new());
                            server.max_concurrent_streams(streams);
                            server.serve_connection(stream, service).await
                        }
                    };
                });
            }
        });
        Self {
            address,
            calls,
            connections,
            serving,
        }
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The number of requests so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The number of connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Kills it, and breaks all its connections.
    pub async fn kill(self) {
        self.serving.abort();
        // It has ended when its socket is free.
        let _ = self.serving.await;
    }
}
