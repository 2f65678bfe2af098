//! A file server of HTTP that fails sometimes, on a free port of this machine.
//!
//! `GET /17` gets the file with an `etag`, and the checksum of all of it. With `range` and `if-range`, it gets the rest of it, with status 206. A fault depends only
//! on the seed, the file and how often it was requested, so every run has the same faults. Only the blip is different.

use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_RANGE, RANGE};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::get;
use futures::stream::{self, StreamExt as _};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::sleep;

/// Another seed makes other requests fail.
const SEED: u64 = 7;

/// For how long the server breaks every answer off in the blip.
const BLIP: Duration = Duration::from_millis(400);

/// What the server does with one request.
#[derive(Clone, Copy)]
enum Fate {
    /// Sends what was asked for.
    Answer,
    /// Sends half of it and closes the connection.
    Break,
    /// Takes far longer than any client waits.
    Stall,
}

/// Counts what it does.
pub(crate) struct Server {
    /// Whether the blip is under way.
    down: watch::Sender<bool>,
    /// How often each file was requested.
    asked: Vec<AtomicU32>,
    resumed: AtomicU32,
    served: AtomicU32,
}

impl Server {
    /// Serves the files `0..` on a free port, until the program ends.
    pub(crate) async fn start(files: usize) -> io::Result<(SocketAddr, Arc<Self>)> {
        let server = Arc::new(Self {
            down: watch::Sender::new(false),
            asked: (0..files).map(|_| AtomicU32::new(0)).collect(),
            resumed: AtomicU32::new(0),
            served: AtomicU32::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let addr = listener.local_addr()?;
        let router = Router::new().route("/{file}", get(answer));
        let router = router.with_state(Arc::clone(&server));
        tokio::spawn(async { axum::serve(listener, router).await });
        Ok((addr, server))
    }

    /// How many requests it got.
    pub(crate) fn requests(&self) -> u32 {
        let asked = self.asked.iter();
        asked.map(|asked| asked.load(Ordering::Relaxed)).sum()
    }

    /// How many requests got the rest of a file.
    pub(crate) fn resumed(&self) -> u32 {
        self.resumed.load(Ordering::Relaxed)
    }

    /// Counts an answer. The blip begins in the middle of all answers.
    fn count_served(&self) {
        let served = self.served.fetch_add(1, Ordering::Relaxed) + 1;
        if served as usize == self.asked.len() / 2 {
            self.down.send_replace(true);
            let down = self.down.clone();
            tokio::spawn(async move {
                sleep(BLIP).await;
                down.send_replace(false);
            });
        }
    }
}

async fn answer(
    State(server): State<Arc<Server>>,
    Path(file): Path<usize>,
    headers: HeaderMap,
) -> Response<Body> {
    let nth = server.asked[file].fetch_add(1, Ordering::Relaxed);
    let random = mixed(SEED ^ mixed(file as u64) ^ u64::from(nth));
    let fate = match random % 100 {
        0..15 => Fate::Break,
        15..18 => Fate::Stall,
        _ => Fate::Answer,
    };
    // Some files change after the first request.
    let version = u64::from(file % 10 == 7 && nth > 0);
    let (etag, contents) = (etag(version), contents(file, version));
    let sum = sha256(&contents);
    let mut response = Response::builder()
        .header(ETAG, &etag)
        .header("x-sha256", sum);
    let same = headers.get(IF_RANGE).is_some_and(|asked| *asked == etag);
    let from = headers.get(RANGE).and_then(|range| {
        let range = range.to_str().ok()?.strip_prefix("bytes=")?;
        range.strip_suffix('-')?.parse::<usize>().ok()
    });
    // For some files, the server knows no ranges.
    let from = from.filter(|_| same && file % 10 != 3);
    if from.is_some_and(|from| from >= contents.len()) {
        let range = format!("bytes */{}", contents.len());
        let answer = response.status(StatusCode::RANGE_NOT_SATISFIABLE);
        let answer = answer.header(CONTENT_RANGE, range).body("no more".into());
        return answer.expect("valid headers");
    }
    if let Some(from) = from {
        server.resumed.fetch_add(1, Ordering::Relaxed);
        let range = format!("bytes {from}-{}/{}", contents.len() - 1, contents.len());
        response = response
            .status(StatusCode::PARTIAL_CONTENT)
            .header(CONTENT_RANGE, range);
    }
    let mut first = contents[from.unwrap_or(0)..].to_vec();
    let response = response.header(CONTENT_LENGTH, first.len());
    let mut second = first.split_off(first.len() / 2);
    if file % 10 == 5 && nth == 0 {
        // Their bytes are in the wrong order, as after a fault of a cache.
        second.reverse();
    }
    let rest = async move {
        let mut down = server.down.subscribe();
        let takes = match fate {
            Fate::Stall => Duration::from_mins(1),
            _ => Duration::from_millis(30 + random / 100 % 220),
        };
        let broken = tokio::select! {
            biased;
            _ = down.wait_for(|down| *down) => true,
            () = sleep(takes) => matches!(fate, Fate::Break),
        };
        if broken {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        server.count_served();
        Ok(second)
    };
    let first = stream::once(ready(io::Result::Ok(first)));
    let body = Body::from_stream(first.chain(stream::once(rest)));
    response.body(body).expect("valid headers")
}

/// The checksum of a file.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let hex = |byte: &u8| format!("{byte:02x}");
    let sum: Vec<_> = Sha256::digest(bytes).iter().map(hex).collect();
    sum.concat()
}

/// The name of a version.
pub(crate) fn etag(version: u64) -> String {
    format!("\"v{version}\"")
}

pub(crate) fn contents(file: usize, version: u64) -> Vec<u8> {
    let mut state = file as u64 ^ version << 32;
    let length = 4_000 + mixed(state) % 8_000;
    (0..length)
        .map(|_| {
            state = mixed(state);
            state.to_le_bytes()[0]
        })
        .collect()
}

/// A number that looks random, always the same for the same `seed` (splitmix64).
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
