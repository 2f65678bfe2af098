//! A server of one document, which is replaced only in the version that the request names (RFC 9110, section 13.1.1).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::loopback::{listener, read_head};

/// The server, over HTTP on loopback. It ends with its runtime.
#[derive(Debug)]
pub struct Document {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    version: usize,
    text: String,
    /// How many of the next requests are carried out and not answered.
    unanswered: usize,
}

impl Document {
    /// Starts it on a free port, with an empty text in version 1. It carries out the first `unanswered` requests, and closes
    /// their connections without an answer.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(unanswered: usize) -> Self {
        let listener = listener().await;
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State {
            version: 1,
            text: String::new(),
            unanswered,
        }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, Arc::clone(&shared)));
            }
        });
        Self { address, state }
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The number of its version, which is one more after each write.
    ///
    /// # Panics
    ///
    /// If the server has panicked.
    #[must_use]
    pub fn version(&self) -> usize {
        self.state.lock().unwrap().version
    }
}

async fn serve(mut connection: TcpStream, state: Arc<Mutex<State>>) {
    let Some((head, mut body)) = read_head(&mut connection).await else {
        return;
    };
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let length = header("content-length: ").map_or(0, |length| length.parse().unwrap());
    while body.len() < length {
        connection.read_buf(&mut body).await.unwrap();
    }
    let answer = {
        let mut state = state.lock().unwrap();
        let matches = header("if-match: ") == Some(&format!("\"{}\"", state.version));
        let status = match (head.starts_with("put "), matches) {
            (true, true) => {
                state.version += 1;
                state.text = String::from_utf8(body).unwrap();
                "204 No Content"
            }
            (true, false) => "412 Precondition Failed",
            (false, _) => "200 OK",
        };
        if let Some(left) = state.unanswered.checked_sub(1) {
            state.unanswered = left;
            return;
        }
        let text = if status == "200 OK" { &*state.text } else { "" };
        let version = state.version;
        format!("HTTP/1.1 {status}\r\netag: \"{version}\"\r\nconnection: close\r\n\r\n{text}")
    };
    // A client that has gone does not read it.
    let _: std::io::Result<()> = connection.write_all(answer.as_bytes()).await;
}
