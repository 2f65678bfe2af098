//! A Prometheus that scrapes the service.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use integrations::program::Program;
use reqwest::{Client, Url};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::numbers::Labels;
use crate::{Failure, PATIENCE, Tested, end};

pub(crate) const PROGRAM: Program = Program {
    names: &["prometheus"],
    package: "prometheus",
    folders: &[],
};

/// The server. It ends when this is dropped.
pub(crate) struct Prometheus {
    process: Child,
    _folder: TempDir,
    url: Url,
    http: Client,
}

impl Prometheus {
    /// Starts a server that scrapes a service every second.
    pub(crate) async fn scraping(service: &str) -> Result<Self, Failure> {
        Self::with_rules(service, "").await
    }

    /// The same, with a file of rules, which it evaluates every second.
    pub(crate) async fn with_rules(service: &str, rules: &str) -> Result<Self, Failure> {
        // Another program may take the port before the server, which then ends.
        for _ in 0..4 {
            if let Ok(server) = Self::start(service, rules).await {
                return Ok(server);
            }
        }
        Self::start(service, rules).await
    }

    async fn start(service: &str, rules: &str) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let target = service.strip_prefix("http://").ok_or("not http")?;
        let config = folder.path().join("prometheus.yml");
        let file = folder.path().join("rules.yml");
        fs::write(&file, rules)?;
        let scrape = format!(
            "global:\n  evaluation_interval: 1s\nrule_files: ['{}']\nscrape_configs:\n- job_name: service\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  \
             static_configs:\n  - targets: ['{target}']\n",
            file.display()
        );
        fs::write(&config, scrape)?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Self {
            process,
            _folder: folder,
            url: format!("http://{address}/").parse()?,
            http: Client::builder().no_proxy().build()?,
        };
        server.is_ready().await?;
        Ok(server)
    }

    async fn is_ready(&mut self) -> Tested {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let ready = self.http.get(self.url.join("-/ready")?).send().await;
            if ready.is_ok_and(|ready| ready.status().is_success()) {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                return Err(format!("prometheus ended: {status}").into());
            }
            sleep(Duration::from_millis(100)).await;
        }
        Err("prometheus is not ready".into())
    }

    /// Calls its API, and returns the field `data` of the answer.
    pub(crate) async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, Failure> {
        let url = Url::parse_with_params(self.url.join(path)?.as_str(), query)?;
        let mut answer: Value = self.http.get(url).send().await?.json().await?;
        if answer["status"] != "success" {
            return Err(format!("{query:?}: {answer}").into());
        }
        Ok(answer["data"].take())
    }
}

impl Prometheus {
    /// Its time two seconds ago, in seconds. Each scrape of that time has arrived, or never will.
    pub(crate) async fn time(&self) -> Result<String, Failure> {
        let ago = self.ask("api/v1/query", &[("query", "time() - 2")]).await?;
        Ok(ago["result"][1].as_str().ok_or("no time")?.to_owned())
    }

    /// The result of a query at this time: a number for each set of labels. Those that are not finite are left out.
    pub(crate) async fn query(
        &self,
        query: &str,
        time: &str,
    ) -> Result<BTreeMap<Labels, f64>, Failure> {
        let asked = [("query", query), ("time", time)];
        let answer = self.ask("api/v1/query", &asked).await?;
        let samples = answer["result"].as_array().ok_or("no result")?;
        let mut values = BTreeMap::new();
        for sample in samples {
            let labels = serde_json::from_value(sample["metric"].clone())?;
            let value: f64 = sample["value"][1].as_str().ok_or("no value")?.parse()?;
            if value.is_finite() {
                values.insert(labels, value);
            }
        }
        Ok(values)
    }

    /// A list of names from its API.
    pub(crate) async fn names(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<BTreeSet<String>, Failure> {
        Ok(serde_json::from_value(self.ask(path, query).await?)?)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}
