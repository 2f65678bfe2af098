//! Downloads 200 files over HTTP, 50 at a time, from a server that breaks answers off, stalls, and fails for 400 ms.
//!
//! ```text
//! cargo run -p integrations --example downloads
//! ```
//!
//! Each attempt asks for the rest of its file, and so does the program after a restart: it ends in the middle, and begins again. What has
//! come stands in a file beside its version; a file is there under its name once its checksum is right. The table at the end has a row for each file, from the `Report` of its call:
//! attempts, time waited between attempts, and outcome. Below it is the level of the retry budget over time.

mod server;
mod table;

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _};
use indicatif::{ProgressBar, ProgressStyle};
use reattempt::http_1::StatusError;
use reattempt::reqwest_0_13::ResponseExt as _;
use reattempt::{Attempt, Budget, Outcome, Report, Retryable, Stopped, retry, with_report};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderValue, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use tokio::time::{sleep, timeout};

use crate::server::{Server, contents, etag, sha256};

const FILES: usize = 200;
const AT_A_TIME: usize = 50;
/// A file that came in the first run, which ended before the file had its name.
const WHOLE: usize = 0;

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
    #[error("another checksum than that of the server")]
    #[retryable(transient)]
    Checksum,
    #[error("the file cannot be written")]
    #[retryable(permanent)]
    File(#[from] io::Error),
    #[error("another range than that of the request")]
    #[retryable(permanent)]
    Range,
    #[error("stopped")]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

/// What has come of a file, in this run of the program or in one before.
struct Part {
    path: PathBuf,
    have: u64,
    /// The version that the bytes are of. A weak one does not tell versions apart byte by byte.
    etag: Option<HeaderValue>,
    furthest: u64,
}

impl Part {
    fn of(path: PathBuf) -> Self {
        let etag = fs::read(path.with_extension("etag")).ok();
        let etag = etag.filter(|etag| !etag.is_empty());
        let etag = etag.and_then(|etag| HeaderValue::from_bytes(&etag).ok());
        let have = fs::metadata(path.with_extension("part")).map_or(0, |part| part.len());
        Self {
            path,
            have,
            etag,
            furthest: have,
        }
    }

    /// Begins with a version. Bytes never stand beside the name of another one, wherever the program ends.
    fn begin(&mut self, etag: Option<HeaderValue>) -> io::Result<()> {
        File::create(self.path.with_extension("part"))?;
        let name = etag.as_ref().map_or(&b""[..], HeaderValue::as_bytes);
        fs::write(self.path.with_extension("etag"), name)?;
        (self.have, self.etag) = (0, etag);
        Ok(())
    }

    /// Writes a chunk. A large one belongs into `spawn_blocking`: a file of `tokio::fs` that is dropped without a `flush` may still be
    /// writing when the next attempt begins.
    fn add(&mut self, chunk: &[u8]) -> io::Result<()> {
        let part = self.path.with_extension("part");
        OpenOptions::new()
            .append(true)
            .open(part)?
            .write_all(chunk)?;
        self.have += chunk.len() as u64;
        Ok(())
    }

    /// Gives the file its name, if it has this checksum. If not, it begins again.
    fn finish(&mut self, sum: &str) -> Result<(), DownloadError> {
        let part = self.path.with_extension("part");
        if sha256(&fs::read(&part)?) != sum {
            self.begin(None)?;
            return Err(DownloadError::Checksum);
        }
        fs::rename(part, &self.path)?;
        Ok(())
    }
}

/// Downloads files, and shows its progress.
struct Downloader {
    client: Client,
    addr: SocketAddr,
    folder: PathBuf,
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
        if part.path.exists() {
            return Ok(());
        }
        let url = format!("http://{}/{file}", self.addr);
        // The positions in a compressed answer are others.
        let mut request = self.client.get(url).header(ACCEPT_ENCODING, "identity");
        let have = part.have;
        if let Some(etag) = part.etag.as_ref().filter(|_| have > 0) {
            request = request.header(RANGE, format!("bytes={have}-"));
            // If the file has changed, all of it comes.
            request = request.header(IF_RANGE, etag);
        }
        let mut response = request.send().await?;
        // With a 416: all of it had come, and the program ended before the file had its name.
        if !has_range(&response, &format!("*/{have}")) {
            response = response.check()?;
        }
        match response.status() {
            StatusCode::RANGE_NOT_SATISFIABLE => {}
            StatusCode::PARTIAL_CONTENT if has_range(&response, &format!("{have}-")) => {}
            StatusCode::PARTIAL_CONTENT => return Err(DownloadError::Range),
            // The file has changed, or the server knows no ranges.
            _ => {
                let etag = response.headers().get(ETAG).cloned();
                part.begin(etag.filter(|etag| !etag.as_bytes().starts_with(b"W/")))?;
            }
        }
        while response.status().is_success()
            && let Some(chunk) = response.chunk().await?
        {
            part.add(&chunk)?;
            // What came before is no progress.
            if part.have > part.furthest {
                part.furthest = part.have;
                Attempt::record_progress();
            }
        }
        let sum = response.headers().get("x-sha256");
        part.finish(sum.and_then(|sum| sum.to_str().ok()).unwrap_or_default())
    }

    fn count_retry(&self) {
        let retries = self.retries.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{retries} retries"));
    }
}

fn has_range(response: &Response, start: &str) -> bool {
    let range = response.headers().get(CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok()?.strip_prefix("bytes "));
    range.is_some_and(|range| range.starts_with(start))
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
            let mut part = Part::of(downloader.folder.join(file.to_string()));
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
    let client = client.build()?;
    let folder = tempfile::tempdir()?;
    let downloader = || -> Result<_, Box<dyn Error>> {
        Ok(Downloader {
            client: client.clone(),
            addr,
            folder: folder.path().to_owned(),
            bar: progress_bar()?,
            retries: AtomicU32::new(0),
        })
    };

    // The first run ends in the middle. Its last requests reach the server.
    let first = downloader()?;
    let _ = timeout(Duration::from_millis(300), download_all(&first)).await;
    sleep(Duration::from_millis(100)).await;
    // One file has come, and was not named yet.
    let whole = Part::of(folder.path().join(WHOLE.to_string()));
    fs::write(whole.path.with_extension("part"), contents(WHOLE, 0))?;
    fs::write(whole.path.with_extension("etag"), etag(0))?;
    let _ = fs::remove_file(whole.path);
    let before = (server.requests(), server.resumed());

    let downloader = downloader()?;
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
    table::print_summary(&reports, server.requests() - before.0, took);
    table::print_budget(&BUDGET, &levels);

    table::check(&files, &reports);
    for (file, part, result, report) in &downloads {
        result
            .as_ref()
            .map_err(|error| format!("file {file}: {error}"))?;
        // Some files changed after the first request, perhaps in the first run.
        let version = fs::read_to_string(part.path.with_extension("etag"))?;
        let version = u64::from(version == etag(1));
        assert_eq!(
            fs::read(&part.path)?,
            contents(*file, version),
            "the contents of file {file}"
        );
        assert_ne!(report.outcome(), Outcome::Budget);
    }
    // Each attempt is one request, unless it got no connection.
    let attempts: u32 = reports.iter().map(|report| report.attempts()).sum();
    assert!(server.requests() - before.0 <= attempts && attempts as usize > FILES);
    assert!(
        server.resumed() > before.1,
        "the second run got the rest of files"
    );
    let retries = downloader.retries.load(Ordering::Relaxed);
    assert_eq!(attempts as usize, FILES + retries as usize);
    Ok(())
}
