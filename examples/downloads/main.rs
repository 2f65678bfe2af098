//! Downloads 200 files, 50 at a time, from a server that resets connections, stalls, and fails for 400 ms.
//!
//! ```text
//! cargo run --example downloads
//! ```
//!
//! The table at the end has a row for each file, from the `Report` of its call: attempts, time waited between attempts,
//! and outcome. Below it is the level of the retry budget over time.

mod server;
mod table;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use futures::stream::{self, StreamExt as _};
use indicatif::{ProgressBar, ProgressStyle};
use reattempt::{Budget, Outcome, Report, observe, retry};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::server::{Server, contents};

const FILES: usize = 200;
const AT_A_TIME: usize = 50;

/// The budget of all downloads. It is a `static` so that this program can read its level.
static BUDGET: Budget = Budget::new();

/// Downloads files, and shows its progress.
struct Downloader {
    addr: SocketAddr,
    bar: ProgressBar,
    /// How often the body of `download` began, by file.
    bodies: Vec<AtomicU32>,
    retries: AtomicU32,
}

impl Downloader {
    /// Downloads one file. Tries again after a fault of the connection, and if an attempt takes more than two seconds.
    #[retry(
        attempts = 8,
        timeout = "2s",
        base = "150ms",
        max_delay = "500ms",
        jitter = "equal",
        budget = BUDGET,
        on_retry = |_| self.count_retry(),
    )]
    async fn download(&self, file: usize) -> io::Result<Vec<u8>> {
        self.bodies[file].fetch_add(1, Ordering::Relaxed);
        let mut stream = BufReader::new(TcpStream::connect(self.addr).await?);
        stream.write_all(format!("GET {file}\n").as_bytes()).await?;
        let mut header = String::new();
        if stream.read_line(&mut header).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let length = header
            .strip_prefix("OK ")
            .and_then(|length| length.trim_end().parse().ok())
            .ok_or(io::ErrorKind::InvalidData)?;
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes).await?;
        Ok(bytes)
    }

    fn count_retry(&self) {
        let retries = self.retries.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{retries} retries"));
    }
}

/// A bar on a terminal. If standard error is a file or a pipe, `indicatif` draws nothing.
fn progress_bar() -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {msg}")?;
    let bar = ProgressBar::new(FILES as u64).with_style(style);
    Ok(bar.with_message("0 retries"))
}

/// A file's number, what the call returned, and its report.
type Download = (usize, io::Result<Vec<u8>>, Report);

async fn download_all(downloader: &Downloader) -> Vec<Download> {
    let mut downloads: Vec<Download> = stream::iter(0..FILES)
        .map(async |file| {
            let (result, report) = observe(downloader.download(file)).await;
            downloader.bar.inc(1);
            (file, result, report.expect("`download` has the attribute"))
        })
        .buffer_unordered(AT_A_TIME)
        .collect()
        .await;
    downloads.sort_by_key(|(file, ..)| *file);
    downloads
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Arc::new(Server::bind(FILES).await?);
    let accepting = tokio::spawn(Arc::clone(&server).run());
    let downloader = Downloader {
        addr: server.addr()?,
        bar: progress_bar()?,
        bodies: (0..FILES).map(|_| AtomicU32::new(0)).collect(),
        retries: AtomicU32::new(0),
    };

    println!("Downloading {FILES} files, {AT_A_TIME} at a time …");
    let began = Instant::now();
    let mut levels = Vec::new();
    let downloads = tokio::select! {
        downloads = download_all(&downloader) => downloads,
        never = table::sample(&BUDGET, &mut levels) => match never {},
    };
    let took = began.elapsed();
    downloader.bar.finish_and_clear();
    accepting.abort();

    let reports: Vec<&Report> = downloads.iter().map(|(.., report)| report).collect();
    let files = table::of_files(&reports);
    println!("\n{files}\n");
    table::print_summary(&reports, server.connections(), took);
    table::print_budget(&BUDGET, &levels);

    table::check(&files, &reports);
    for (file, result, report) in &downloads {
        let bytes = result.as_ref().map_err(io::Error::to_string)?;
        assert_eq!(*bytes, contents(*file), "the contents of file {file}");
        assert_ne!(report.outcome(), Outcome::Budget);
        let bodies = downloader.bodies[*file].load(Ordering::Relaxed);
        assert_eq!(report.attempts(), bodies, "the attempts of file {file}");
    }
    // Each attempt connects once. The server accepts connections during the blip too, and resets them.
    let attempts: u32 = reports.iter().map(|report| report.attempts()).sum();
    assert_eq!(attempts, server.connections());
    let retries = downloader.retries.load(Ordering::Relaxed);
    assert_eq!(attempts as usize, FILES + retries as usize);
    Ok(())
}
