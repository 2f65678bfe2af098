//! A server of one document, which is replaced only in the version that the request names (RFC 9110, section 13.1.1).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::loopback::answer_by;

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
    /// How many of the next writes are carried out and not answered.
    unanswered: usize,
}

impl Document {
    /// Starts it on a free port, with an empty text in version 1. It carries out the first `unanswered` writes, and closes
    /// their connections without an answer.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn start(unanswered: usize) -> Self {
        let state = Arc::new(Mutex::new(State {
            version: 1,
            text: String::new(),
            unanswered,
        }));
        let shared = Arc::clone(&state);
        let answer = move |head: &str, body: &[u8]| shared.lock().unwrap().answer(head, body);
        let address = answer_by(answer).await;
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

impl State {
    fn answer(&mut self, head: &str, body: &[u8]) -> Option<String> {
        let of = head
            .lines()
            .find_map(|line| line.strip_prefix("if-match: "));
        let matches = of == Some(&format!("\"{}\"", self.version));
        let status = match (head.starts_with("put "), matches) {
            (true, true) => {
                self.version += 1;
                self.text = String::from_utf8(body.to_vec()).unwrap();
                "204 No Content"
            }
            (true, false) => "412 Precondition Failed",
            (false, _) => "200 OK",
        };
        if status == "204 No Content"
            && let Some(left) = self.unanswered.checked_sub(1)
        {
            self.unanswered = left;
            return None;
        }
        let text = if status == "200 OK" { &*self.text } else { "" };
        let version = self.version;
        Some(format!(
            "HTTP/1.1 {status}\r\netag: \"{version}\"\r\nconnection: close\r\n\r\n{text}"
        ))
    }
}
