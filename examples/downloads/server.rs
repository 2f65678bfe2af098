//! A file server that fails sometimes, on a free port of this machine.
//!
//! A client sends `GET 17\n` and gets `OK 9000\n` and 9,000 bytes. A fault depends only on the seed, the
//! file and how often it was requested, so every run has the same faults. Only the blip is different.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

/// Another seed makes other requests fail.
const SEED: u64 = 7;

/// For how long the server resets every connection in the blip.
const BLIP: Duration = Duration::from_millis(400);

/// What the server does with one request.
enum Fate {
    /// Sends the file.
    Answer,
    /// Sends half of the file and resets the connection.
    Reset,
    /// Takes far longer than any client waits.
    Stall,
}

/// Serves the files `0..`, and counts.
pub(crate) struct Server {
    listener: TcpListener,
    /// Whether the blip is under way.
    down: watch::Sender<bool>,
    /// How often each file was requested.
    asked: Vec<AtomicU32>,
    connections: AtomicU32,
    served: AtomicU32,
}

impl Server {
    /// Listens on a free port.
    pub(crate) async fn bind(files: usize) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind("127.0.0.1:0").await?,
            down: watch::Sender::new(false),
            asked: (0..files).map(|_| AtomicU32::new(0)).collect(),
            connections: AtomicU32::new(0),
            served: AtomicU32::new(0),
        })
    }

    pub(crate) fn addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// How many connections it accepted.
    pub(crate) fn connections(&self) -> u32 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Serves until it is dropped.
    pub(crate) async fn run(self: Arc<Self>) -> io::Result<()> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            self.connections.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(Arc::clone(&self).serve(stream));
        }
    }

    /// Serves one connection. In the blip it resets the connection, even in the middle of an answer.
    async fn serve(self: Arc<Self>, mut stream: TcpStream) -> io::Result<()> {
        let mut down = self.down.subscribe();
        let reset = tokio::select! {
            biased;
            _ = down.wait_for(|down| *down) => true,
            answered = self.answer(&mut stream) => matches!(answered, Ok(Fate::Reset)),
        };
        if reset {
            // The client sees "connection reset by peer".
            stream.set_zero_linger()?;
        }
        Ok(())
    }

    /// Answers one request, and returns what it did.
    async fn answer(&self, stream: &mut TcpStream) -> io::Result<Fate> {
        let (reading, mut writing) = stream.split();
        let mut request = String::new();
        BufReader::new(reading).read_line(&mut request).await?;
        let file = request
            .strip_prefix("GET ")
            .and_then(|file| file.trim_end().parse::<usize>().ok())
            .filter(|file| *file < self.asked.len())
            .ok_or(io::ErrorKind::InvalidData)?;
        let nth = self.asked[file].fetch_add(1, Ordering::Relaxed);
        let random = mixed(SEED ^ mixed(file as u64) ^ u64::from(nth));
        let fate = match random % 100 {
            0..10 => Fate::Reset,
            10..13 => Fate::Stall,
            _ => Fate::Answer,
        };

        let contents = contents(file);
        let half = contents.len() / 2;
        let header = format!("OK {}\n", contents.len());
        writing.write_all(header.as_bytes()).await?;
        writing.write_all(&contents[..half]).await?;
        sleep(match fate {
            Fate::Stall => Duration::from_secs(60),
            Fate::Answer | Fate::Reset => Duration::from_millis(30 + random / 100 % 220),
        })
        .await;
        if matches!(fate, Fate::Answer) {
            writing.write_all(&contents[half..]).await?;
            self.count_served();
        }
        Ok(fate)
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

pub(crate) fn contents(file: usize) -> Vec<u8> {
    let mut state = file as u64;
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
