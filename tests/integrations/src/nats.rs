//! A private NATS server with JetStream, in a temporary folder, on a free port of loopback.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::process::Process;
use crate::program::{Missing, Program};
use crate::until;

/// The server program. Debian keeps it off the path.
pub const PROGRAM: Program = Program {
    names: &["nats-server"],
    package: "nats-server",
    folders: &["/usr/sbin"],
};

/// The server. It ends when you drop this value.
#[derive(Debug)]
pub struct Server {
    url: String,
    // First the process ends, then its folder goes.
    _process: Process,
    _folder: TempDir,
}

impl Server {
    /// Starts it. The server itself takes a free port, and writes its address into a file once it is ready.
    ///
    /// # Errors
    ///
    /// - [`PROGRAM`] is not installed.
    ///
    /// # Panics
    ///
    /// If it is installed and cannot be started.
    pub async fn start() -> Result<Self, Missing> {
        let program = PROGRAM.find()?;
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new(program);
        server
            .args(["-js", "-a", "127.0.0.1", "-p", "-1", "-sd"])
            .arg(folder.path())
            .arg("--ports_file_dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = Process::start(&mut server).unwrap();
        let file = format!("nats-server_{}.ports", process.id());
        let file = folder.path().join(file);
        let mut url = None;
        until("nats-server is ready", async || {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let mut parts = text.split('"');
            url = parts
                .find(|part| part.starts_with("nats://"))
                .map(str::to_owned);
            // The rest of the file may not be written yet.
            parts.next().is_some_and(|rest| rest.starts_with(']'))
        })
        .await;
        Ok(Self {
            url: url.unwrap(),
            _process: process,
            _folder: folder,
        })
    }

    /// The URL to connect to it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
