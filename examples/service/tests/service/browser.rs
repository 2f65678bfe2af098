//! A headless Chromium that looks at the page.

use std::io::{self, BufRead as _, BufReader, Lines};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use integrations::program::Program;
use reattempt::retry;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;
use url::{ParseError, Url};

use crate::shown::RECORDER;
use crate::{Failure, PATIENCE, Tested};

/// The browser, and its driver.
pub(crate) const PROGRAMS: [Program; 2] = [
    Program {
        names: &["chromium"],
        package: "chromium",
        folders: &[],
    },
    Program {
        names: &["chromedriver"],
        package: "chromium-driver",
        folders: &[],
    },
];

type Output = Lines<BufReader<ChildStdout>>;

/// The browser with one page open.
pub(crate) struct Browser {
    client: Client,
    driver: Child,
    /// The driver may still write, and would end if its output were closed.
    _output: Output,
    _folder: TempDir,
}

impl Browser {
    pub(crate) async fn open(url: &str) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (mut driver, lines, port) = start_driver().await?;
        let options = json!({
            "goog:chromeOptions": { "args": [
                "--headless=new",
                // A container's tests run as root, and the page is our own.
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--disable-gpu",
                "--hide-scrollbars",
                format!("--user-data-dir={}", folder.path().display()),
            ] },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(options) = options else {
            unreachable!("it is one");
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(options)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await;
        let client = match client {
            Ok(client) => client,
            Err(error) => {
                end_group(&mut driver);
                return Err(error.into());
            }
        };
        let browser = Self {
            client,
            driver,
            _output: lines,
            _folder: folder,
        };
        // It runs before the scripts of each page that the browser opens.
        let recorder = json!({ "source": format!("{{{RECORDER}}}") });
        browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", &recorder)
            .await?;
        browser.client.goto(url).await?;
        browser.resize(1280).await?;
        Ok(browser)
    }

    /// Waits until the page has refreshed this many times.
    pub(crate) async fn refreshed(&self, times: u64) -> Tested {
        let reads = "return Number(document.body.dataset.reads ?? 0)";
        let before = self.run(reads).await?.as_u64().unwrap_or(0);
        let script =
            format!("return Number(document.body.dataset.reads ?? 0) >= {before} + {times}");
        self.until("the page reads", &script).await
    }

    /// Runs a script in the page, and returns its result.
    pub(crate) async fn run(&self, script: &str) -> Result<Value, Failure> {
        Ok(self.client.execute(script, vec![]).await?)
    }

    /// Waits until a script returns `true`.
    pub(crate) async fn until(&self, what: &str, script: &str) -> Tested {
        let began = Instant::now();
        while self.run(script).await? != true {
            if began.elapsed() > PATIENCE {
                return Err(format!("{what}: not within {PATIENCE:?}").into());
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    pub(crate) async fn click(&self, selector: &str) -> Tested {
        Ok(self
            .client
            .find(Locator::Css(selector))
            .await?
            .click()
            .await?)
    }

    /// Uses the page as a person whose system has this theme.
    pub(crate) async fn prefer(&self, theme: &str) -> Tested {
        let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        )
        .await?;
        Ok(())
    }

    /// Sets the width of the window, and makes it as high as the page. Parts of a picture beyond the window are empty.
    pub(crate) async fn resize(&self, width: u32) -> Tested {
        for height in ["900", "document.documentElement.scrollHeight"] {
            let height = self.run(&format!("return {height}")).await?;
            let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
            self.devtools("Emulation.setDeviceMetricsOverride", &size)
                .await?;
            self.refreshed(2).await?;
        }
        Ok(())
    }

    /// Gives a picture of the window, in PNG.
    pub(crate) async fn picture(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.client.screenshot().await?)
    }

    /// Ends the browser. Fails if its console has a line, or if the page loaded something from another origin.
    pub(crate) async fn close(self) -> Tested {
        self.close_with(&[]).await
    }

    /// The same for a page that has to write these lines, and no others, to the console.
    pub(crate) async fn close_with(self, expected: &[&str]) -> Tested {
        let log = Extension::new("se/log", json!({ "type": "browser" }));
        let log: Vec<Value> = serde_json::from_value(self.ask(log).await?)?;
        let foreign = "return performance.getEntriesByType('resource').map(({ name }) => name)
            .filter((name) => !name.startsWith(location.origin))";
        let foreign = self.run(foreign).await?;
        self.client.clone().close().await?;
        assert_eq!(log.len(), expected.len(), "the browser's console: {log:?}");
        for (line, expected) in log.iter().zip(expected) {
            let line = line["message"].as_str().ok_or("no message")?;
            assert!(line.contains(expected), "the browser's console: {line}");
        }
        assert_eq!(foreign, json!([]), "what came from elsewhere");
        Ok(())
    }

    async fn devtools(&self, command: &str, parameters: &Value) -> Result<Value, Failure> {
        let body = json!({ "cmd": command, "params": parameters });
        self.ask(Extension::new("goog/cdp/execute", body)).await
    }

    async fn ask(&self, command: Extension) -> Result<Value, Failure> {
        Ok(self.client.issue_cmd(command).await?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end_group(&mut self.driver);
    }
}

/// Ends the driver and its browsers.
fn end_group(driver: &mut Child) {
    let group = format!("-{}", driver.id());
    // They may have ended already, which is not an error here.
    let _: io::Result<_> = Command::new("kill")
        .args(["-TERM", "--", &group])
        .stderr(Stdio::null())
        .status();
    let _: io::Result<_> = driver.wait();
}

/// A command of Chromium's driver that is not in the standard.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl Extension {
    fn new(path: &'static str, body: Value) -> Self {
        Self { path, body }
    }
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/{}", self.path))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

/// Starts the driver on a free port. The port is free for IPv4, and the driver ends if another program has it for IPv6.
#[retry(attempts = 5, base = "100ms", when = |_| true)]
async fn start_driver() -> io::Result<(Child, Output, String)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        // The group contains the browsers that the driver starts, so that the test can end all of them.
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = driver.stdout.take().expect("it is piped");
    let mut lines = BufReader::new(output).lines();
    let mut said = String::new();
    for line in lines.by_ref() {
        let line = line?;
        if let Some((_, port)) = line.split_once("successfully on port ") {
            return Ok((driver, lines, port.trim_end_matches('.').to_owned()));
        }
        said += &line;
    }
    driver.wait()?;
    Err(io::Error::other(format!(
        "chromedriver did not start: {said}"
    )))
}
