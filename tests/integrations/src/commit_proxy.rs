//! A proxy before PostgreSQL that breaks the exchange of a `COMMIT`.

use std::future::pending;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A `COMMIT` as clients send it.
const REQUEST: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
/// The answer: the transaction took effect, and the session is idle.
const ANSWER: &[u8] = b"C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I";

/// The bytes of the exchange that pass: those of the request, and then those of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed(pub usize);

impl Passed {
    /// The server gets the `COMMIT`, and the client gets no answer.
    pub const REQUEST: Self = Self(REQUEST.len());
    /// Nothing is lost.
    pub const ALL: Self = Self(REQUEST.len() + ANSWER.len());
}

/// How the proxy ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client reads the end of the stream.
    Close,
    /// The client gets an error.
    Reset,
    /// The client keeps its connection, and waits for the rest of the answer.
    Hang,
}

/// Starts the proxy, and returns its port. It asks at each `COMMIT` where to break the exchange, if at all.
///
/// If the server gets the whole `COMMIT`, the proxy breaks the exchange after the server has answered.
///
/// # Panics
///
/// If no port is free.
pub async fn start(
    server: u16,
    at_commit: impl Fn() -> Option<(Passed, End)> + Clone + Send + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
            tokio::spawn(pass_on(client, server, at_commit.clone()));
        }
    });
    port
}

async fn pass_on(
    mut client: TcpStream,
    mut server: TcpStream,
    at_commit: impl Fn() -> Option<(Passed, End)>,
) {
    let (mut asked, mut answered) = ([0; 4096], [0; 4096]);
    loop {
        // If one side is gone, the other one has to hear of it: the server may hold locks for the client.
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let asked = &asked[..length];
                let commit = position(asked, REQUEST);
                if let Some((commit, (passed, end))) = commit.zip(commit.and_then(|_| at_commit())) {
                    break_off(&mut client, &mut server, asked, commit, passed).await;
                    return finish(client, end).await;
                }
                if server.write_all(asked).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Passes on what comes before the `COMMIT`, which is at `commit` in `asked`, and then the first bytes of the exchange.
async fn break_off(
    client: &mut TcpStream,
    server: &mut TcpStream,
    asked: &[u8],
    commit: usize,
    Passed(passed): Passed,
) {
    let of_request = passed.min(REQUEST.len());
    server
        .write_all(&asked[..commit + of_request])
        .await
        .unwrap();
    if of_request < REQUEST.len() {
        return;
    }
    // The server may first answer earlier requests, such as the end of a statement.
    let mut answered = Vec::new();
    let answer = loop {
        assert_ne!(server.read_buf(&mut answered).await.unwrap(), 0);
        if let Some(answer) = position(&answered, ANSWER) {
            break answer;
        }
    };
    let of_answer = passed - of_request;
    client
        .write_all(&answered[..answer + of_answer])
        .await
        .unwrap();
}

async fn finish(client: TcpStream, end: End) {
    match end {
        End::Close => {}
        End::Reset => client.set_zero_linger().unwrap(),
        End::Hang => pending().await,
    }
}

fn position(bytes: &[u8], of: &[u8]) -> Option<usize> {
    bytes.windows(of.len()).position(|window| window == of)
}
