//! A proxy before PostgreSQL or MariaDB that breaks the exchange of a `COMMIT`.

use std::future::pending;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A `COMMIT` as clients send it, and how the server answers that the transaction took effect.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    request: &'static [u8],
    answer: &'static [u8],
}

impl Wire {
    /// The session is idle after it.
    pub const POSTGRES: Self = Self {
        request: b"Q\0\0\0\x0bCOMMIT\0",
        answer: b"C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I",
    };
    /// A packet with an OK: no rows, autocommit, no warnings.
    pub const MARIADB: Self = Self {
        request: b"\x07\0\0\0\x03COMMIT",
        answer: b"\x07\0\0\x01\0\0\0\x02\0\0\0",
    };

    /// The server gets the `COMMIT`, and the client gets no answer.
    #[must_use]
    pub const fn request(self) -> usize {
        self.request.len()
    }

    /// Nothing is lost.
    #[must_use]
    pub const fn all(self) -> usize {
        self.request.len() + self.answer.len()
    }
}

/// The bytes of the exchange that pass: those of the request, and then those of the answer. The constants are those of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed(pub usize);

impl Passed {
    /// The server gets the `COMMIT`, and the client gets no answer.
    pub const REQUEST: Self = Self(Wire::POSTGRES.request());
    /// Nothing is lost.
    pub const ALL: Self = Self(Wire::POSTGRES.all());
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
    start_before(Wire::POSTGRES, server, at_commit).await
}

/// The same, before a server that speaks so.
///
/// # Panics
///
/// If no port is free.
pub async fn start_before(
    wire: Wire,
    server: u16,
    at_commit: impl Fn() -> Option<(Passed, End)> + Clone + Send + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
            tokio::spawn(pass_on(wire, client, server, at_commit.clone()));
        }
    });
    port
}

async fn pass_on(
    wire: Wire,
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
                let commit = position(asked, wire.request);
                if let Some((commit, (passed, end))) = commit.zip(commit.and_then(|_| at_commit())) {
                    break_off(wire, &mut client, &mut server, asked, commit, passed).await;
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
    wire: Wire,
    client: &mut TcpStream,
    server: &mut TcpStream,
    asked: &[u8],
    commit: usize,
    Passed(passed): Passed,
) {
    let of_request = passed.min(wire.request.len());
    server
        .write_all(&asked[..commit + of_request])
        .await
        .unwrap();
    if of_request < wire.request.len() {
        return;
    }
    // The server may first answer earlier requests, such as the end of a statement.
    let mut answered = Vec::new();
    let answer = loop {
        assert_ne!(server.read_buf(&mut answered).await.unwrap(), 0);
        if let Some(answer) = position(&answered, wire.answer) {
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
