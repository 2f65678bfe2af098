//! Downloads 200 files over HTTP, 50 at a time, from a server that breaks answers off, stalls, and fails for 400 ms.
//!
//! ```text
//! cargo run -p integrations --example downloads
//! ```
//!
//! Each attempt asks for the rest of its file. The table at the end has a row for each file, from the `Report` of its call:
//! attempts, time waited between attempts, and outcome. Below it is the level of the retry budget over time.

mod server;
mod table;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use futures::stream::{self, StreamExt as _};
use indicatif::{ProgressBar, ProgressStyle};
use reattempt::http_1::StatusError;
use reattempt::reqwest_0_13::ResponseExt as _;
use reattempt::{Attempt, Budget, Outcome, Report, Retryable, Stopped, retry, with_report};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderValue, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};

use crate::server::{Server, contents, etag};

const FILES: usize = 200;
const AT_A_TIME: usize = 50;

/// The budget of all downloads. It is a `static` so that this program can read its level.
static BUDGET: Budget = Budget::new();

#[derive(Debug, thiserror::Error, Retryable)]
enum DownloadError {
    #[error("no answer")]
    #[retryable(forward)]
    Http(#[from] reqwest::Error),
    #[error("the server failed")]
    #[retryable(forward)]
    Status(#[from] StatusError),
    #[error("another range than that of the request")]
    #[retryable(permanent)]
    Range,
    #[error("stopped")]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

/// What has come of a file.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    /// The version that the bytes are of. A weak one does not tell versions apart byte by byte.
    etag: Option<HeaderValue>,
    furthest: usize,
}

/// Downloads files, and shows its progress.
struct Downloader {
    client: Client,
    addr: SocketAddr,
    bar: ProgressBar,
    retries: AtomicU32,
}

impl Downloader {
    /// Downloads the rest of a file. Tries again after a fault of the connection, and if nothing comes for two seconds.
    #[retry(
        attempts = 8,
        timeout = "2s",
        base = "150ms",
        max_delay = "500ms",
        jitter = "equal",
        budget = BUDGET,
        on_retry = |_| self.count_retry(),
    )]
    async fn download(&self, file: usize, part: &mut Part) -> Result<(), DownloadError> {
        let url = format!("http://{}/{file}", self.addr);
        // The positions in a compressed answer are others.
        let mut request = self.client.get(url).header(ACCEPT_ENCODING, "identity");
        let have = part.bytes.len();
        if let Some(etag) = part.etag.as_ref().filter(|_| have > 0) {
            request = request.header(RANGE, format!("bytes={have}-"));
            // If the file has changed, all of it comes.
            request = request.header(IF_RANGE, etag);
        }
        let mut response = request.send().await?.check()?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT if begins_at(&response, have) => {}
            StatusCode::PARTIAL_CONTENT => return Err(DownloadError::Range),
            // The file has changed, or the server knows no ranges.
            _ => part.bytes.clear(),
        }
        let etag = response.headers().get(ETAG);
        part.etag = etag
            .filter(|etag| !etag.as_bytes().starts_with(b"W/"))
            .cloned();
        while let Some(chunk) = response.chunk().await? {
            part.bytes.extend_from_slice(&chunk);
            // What came before is no progress.
            if part.bytes.len() > part.furthest {
                part.furthest = part.bytes.len();
                Attempt::record_progress();
            }
        }
        Ok(())
    }

    fn count_retry(&self) {
        let retries = self.retries.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{retries} retries"));
    }
}

fn begins_at(response: &Response, have: usize) -> bool {
    let range = response.headers().get(CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")))
}

/// A bar on a terminal. If standard error is a file or a pipe, `indicatif` draws nothing.
fn progress_bar() -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {msg}")?;
    let bar = ProgressBar::new(FILES as u64).with_style(style);
    Ok(bar.with_message("0 retries"))
}

/// A file's number, what came, what the call returned, and its report.
type Download = (usize, Part, Result<(), DownloadError>, Report);

async fn download_all(downloader: &Downloader) -> Vec<Download> {
    let mut downloads: Vec<Download> = stream::iter(0..FILES)
        .map(async |file| {
            let mut part = Part::default();
            let (result, report) = with_report(downloader.download(file, &mut part)).await;
            downloader.bar.inc(1);
            let report = report.expect("`download` has the attribute");
            (file, part, result, report)
        })
        .buffer_unordered(AT_A_TIME)
        .collect()
        .await;
    downloads.sort_by_key(|(file, ..)| *file);
    downloads
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (addr, server) = Server::start(FILES).await?;
    // `reqwest` retries too.
    let client = Client::builder().retry(reqwest::retry::never()).no_proxy();
    let downloader = Downloader {
        client: client.build()?,
        addr,
        bar: progress_bar()?,
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

    let reports: Vec<&Report> = downloads.iter().map(|(.., report)| report).collect();
    let files = table::of_files(&reports);
    println!("\n{files}\n");
    table::print_summary(&reports, server.requests(), took);
    table::print_budget(&BUDGET, &levels);

    table::check(&files, &reports);
    for (file, part, result, report) in &downloads {
        result
            .as_ref()
            .map_err(|error| format!("file {file}: {error}"))?;
        let of_version = |version| part.etag.as_ref().is_some_and(|of| *of == etag(version));
        let version = u64::from(of_version(1));
        assert!(of_version(version), "the version of file {file}");
        assert_eq!(
            part.bytes,
            contents(*file, version),
            "the contents of file {file}"
        );
        assert_ne!(report.outcome(), Outcome::Budget);
    }
    // Each attempt is one request, unless it got no connection.
    let attempts: u32 = reports.iter().map(|report| report.attempts()).sum();
    assert!(server.requests() <= attempts && attempts as usize > FILES);
    assert!(server.resumed() > 0, "some requests got the rest of a file");
    let retries = downloader.retries.load(Ordering::Relaxed);
    assert_eq!(attempts as usize, FILES + retries as usize);
    Ok(())
}
