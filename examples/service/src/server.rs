//! The HTTP server: hyper, with limits for what a client can make it wait for.
//!
//! `axum::serve` has none: a request that never arrives in full, or an answer that is not read, keeps its connection, for
//! ever.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_http::timeout::TimeoutLayer;

/// How long the head of a request may take to arrive. A connection without a request is closed after this time too.
const HEAD: Duration = Duration::from_secs(10);

/// How long the rest may take: the body arrives, and the handler answers.
const BODY_AND_ANSWER: Duration = Duration::from_secs(10);

/// How long a connection is kept for more requests. It then has the time of one request to end, also if its client does not
/// read the answer.
const CONNECTION: Duration = Duration::from_secs(30);

/// The most connections at the same time. Others wait until one is closed.
const CONNECTIONS: usize = 512;

/// Serves until it is dropped.
pub(crate) async fn serve(mut listener: impl Listener, router: Router) -> Infallible {
    let limit = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, BODY_AND_ANSWER);
    let service = TowerToHyperService::new(router.layer(limit));
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let (stream, _) = listener.accept().await;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            // An error is a client that went away, or that a limit cut.
            if timeout(CONNECTION, connection.as_mut()).await.is_err() {
                connection.as_mut().graceful_shutdown();
                let _ = timeout(HEAD + BODY_AND_ANSWER, connection).await;
            }
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::io;

    use axum::routing::post;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::sync::mpsc;
    use tokio::task::JoinSet;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Connections in memory, so that the paused clock knows when all of them wait.
    struct InMemory(mpsc::UnboundedReceiver<DuplexStream>);

    impl Listener for InMemory {
        type Io = DuplexStream;
        type Addr = ();

        async fn accept(&mut self) -> (DuplexStream, ()) {
            match self.0.recv().await {
                Some(stream) => (stream, ()),
                None => pending().await,
            }
        }

        fn local_addr(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A server that returns the body of a request. It waits before that for the milliseconds in it.
    struct Server(mpsc::UnboundedSender<DuplexStream>);

    impl Server {
        fn start() -> Self {
            let (connect, connections) = mpsc::unbounded_channel();
            let echo = post(|body: String| async move {
                sleep(Duration::from_millis(body.parse().unwrap())).await;
                body
            });
            let router = Router::new().route("/", echo);
            tokio::spawn(serve(InMemory(connections), router));
            Self(connect)
        }

        fn connect(&self) -> DuplexStream {
            let (client, server) = duplex(4096);
            self.0.send(server).unwrap();
            client
        }
    }

    /// Sends this, and waits until the server closes the connection. Returns all that it sent, and when it closed it.
    async fn send(mut client: DuplexStream, bytes: &[u8]) -> (String, Duration) {
        let began = Instant::now();
        client.write_all(bytes).await.unwrap();
        let mut answer = String::new();
        let closed = timeout(
            Duration::from_secs(3600),
            client.read_to_string(&mut answer),
        );
        let read = closed.await.expect("the connection is open after an hour");
        read.unwrap();
        (answer, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn half_sent_heads_are_cut() {
        let server = Server::start();
        let mut clients = JoinSet::new();
        for _ in 0..500 {
            clients.spawn(send(server.connect(), b"POST / HTTP/1.1\r\nHost: a"));
        }
        for (answer, after) in clients.join_all().await {
            assert_eq!(answer, "");
            assert!(after >= HEAD && after < HEAD * 2, "closed after {after:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_half_sent_body_is_cut() {
        let server = Server::start();
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n10";
        let (answer, after) = send(server.connect(), head).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(after < BODY_AND_ANSWER * 2, "closed after {after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_drips_is_cut() {
        let server = Server::start();
        let mut client = server.connect();
        client
            .write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n")
            .await
            .unwrap();
        let began = Instant::now();
        while client.write_all(b"1").await.is_ok() {
            sleep(Duration::from_secs(1)).await;
            let open = began.elapsed();
            assert!(open < BODY_AND_ANSWER * 2, "open after {open:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_reads_its_answers_is_cut() {
        let server = Server::start();
        let mut client = server.connect();
        let body = "0".repeat(8192);
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8192\r\n\r\n";
        let request = format!("{head}{body}");
        let began = Instant::now();
        let sent = async { while client.write_all(request.as_bytes()).await.is_ok() {} };
        let closed = timeout(Duration::from_secs(3600), sent).await;
        closed.expect("the connection is open after an hour");
        assert!(began.elapsed() < CONNECTION + HEAD + BODY_AND_ANSWER * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_at_its_limit_ends_with_the_answer_to_its_last_request() {
        let server = Server::start();
        let mut client = server.connect();
        let began = Instant::now();
        let mut answers = 0;
        let mut byte = [0];
        let request = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n9000";
        while client.write_all(request).await.is_ok() {
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\n9000") && client.read(&mut byte).await.unwrap() == 1 {
                answer.extend(byte);
            }
            assert!(
                answer.ends_with(b"9000"),
                "{}",
                String::from_utf8_lossy(&answer)
            );
            answers += 1;
        }
        assert_eq!((answers, began.elapsed().as_secs()), (4, 36));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_closed() {
        let server = Server::start();
        let request = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n0";
        for (sent, expected) in [(&b""[..], ""), (&request[..], "HTTP/1.1 200 ")] {
            let (answer, after) = send(server.connect(), sent).await;
            assert!(answer.starts_with(expected), "{answer}");
            assert!(after < HEAD * 2, "closed after {after:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn more_connections_wait_for_a_place() {
        let server = Server::start();
        let mut idle: Vec<_> = (0..CONNECTIONS).map(|_| server.connect()).collect();
        let request =
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\n0";
        let mut next = Box::pin(send(server.connect(), request.as_bytes()));
        assert!(
            timeout(HEAD / 2, &mut next).await.is_err(),
            "there was room"
        );
        drop(idle.pop());
        let (answer, after) = next.await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(after < HEAD, "it had to wait {after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_within_the_limits_is_answered() {
        let server = Server::start();
        let mut client = server.connect();
        for part in ["POST / HTTP/1.1\r\nHost: a\r\nConnec", "tion: close\r\n"] {
            client.write_all(part.as_bytes()).await.unwrap();
            sleep(HEAD / 3).await;
        }
        let (answer, _) = send(client, b"Content-Length: 4\r\n\r\n9000").await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.ends_with("9000"), "{answer}");
    }
}
