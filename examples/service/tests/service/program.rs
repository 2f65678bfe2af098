//! Runs the service, as users start it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::numbers::Numbers;
use crate::{Failure, PATIENCE, Tested, end};

/// The running program. It ends when this is dropped, and by itself if the tests are killed.
pub(crate) struct Service {
    process: Child,
    folder: TempDir,
    /// `http://127.0.0.1:` and its port.
    pub(crate) url: String,
    http: Client,
}

impl Service {
    /// Starts it with this many checkouts a second.
    pub(crate) fn start(load: u32) -> Result<Self, Failure> {
        Self::start_with(&["--load", &load.to_string()])
    }

    /// Starts it without load. It makes the calls of [`Self::check_out`] alone.
    pub(crate) fn start_still() -> Result<Self, Failure> {
        Self::start_with(&[])
    }

    fn start_with(arguments: &[&str]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("retry.toml");
        fs::write(&config, "")?;
        let mut process = Command::new(env!("CARGO_BIN_EXE_service"))
            .args(["--port", "0", "--for", "15m", "--events", "debug"])
            .args(arguments)
            .arg("--config")
            .arg(&config)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.path().join("log"))?)
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("piped")?).read_line(&mut line)?;
        let url = line
            .split_whitespace()
            .find_map(|word| word.strip_suffix('/').filter(|url| url.starts_with("http")));
        let Some(url) = url.map(str::to_owned) else {
            end(&mut process);
            let log = fs::read_to_string(folder.path().join("log"))?;
            return Err(format!("the service did not start: {line}{log}").into());
        };
        let http = Client::builder().no_proxy().build()?;
        Ok(Self {
            process,
            folder,
            url,
            http,
        })
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("retry.toml")
    }

    /// Waits until there is such an event on its standard error.
    pub(crate) async fn logs(&self, what: &str, is: impl Fn(&str) -> bool) -> Tested {
        let began = Instant::now();
        while !fs::read_to_string(self.folder.path().join("log"))?
            .lines()
            .any(&is)
        {
            if began.elapsed() > PATIENCE {
                return Err(format!("no event of {what} within {PATIENCE:?}").into());
            }
            sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// The numbers that Prometheus would get now.
    pub(crate) async fn numbers(&self) -> Result<Numbers, Failure> {
        let answer = self
            .http
            .get(format!("{}/metrics", self.url))
            .send()
            .await?;
        Ok(Numbers::parse(&answer.error_for_status()?.text().await?))
    }

    /// The current settings.
    pub(crate) async fn status(&self) -> Result<Value, Failure> {
        let answer = self.http.get(format!("{}/status", self.url)).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    }

    /// Makes a checkout, and waits for its end. It may fail.
    pub(crate) async fn check_out(&self) -> Tested {
        let wanted = json!({ "customer": 1, "product": 1 });
        let url = format!("{}/checkout", self.url);
        self.http.post(url).json(&wanted).send().await?;
        Ok(())
    }

    /// Presses a button without a browser.
    pub(crate) async fn post(&self, path: &str) -> Result<(), Failure> {
        let answer = self.http.post(format!("{}{path}", self.url)).send().await?;
        answer.error_for_status()?;
        Ok(())
    }

    /// Waits until the metrics are as expected.
    pub(crate) async fn until(
        &self,
        what: &str,
        is: impl Fn(&Numbers) -> bool,
    ) -> Result<Numbers, Failure> {
        let began = Instant::now();
        loop {
            let numbers = self.numbers().await?;
            if is(&numbers) {
                return Ok(numbers);
            }
            if began.elapsed() > PATIENCE {
                return Err(format!("{what}: not within {PATIENCE:?}").into());
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}
