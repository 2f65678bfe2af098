//! A private NATS server with JetStream, which is an MQTT broker too, in a temporary folder, on free ports of loopback.

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
    mqtt: u16,
    // First the process ends, then its folder goes.
    _process: Process,
    _folder: TempDir,
}

impl Server {
    /// Starts it. The server itself takes free ports, and writes them into files.
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
        let [config, log] = ["config", "log"].map(|name| folder.path().join(name));
        let text = format!(
            "server_name: tests\nlisten: \"127.0.0.1:-1\"\nports_file_dir: \"{0}\"\nlog_file: \"{1}\"\n\
             jetstream {{ store_dir: \"{0}\" }}\n\
             mqtt {{ listen: \"127.0.0.1:-1\", authorization {{ username: device, password: secret }} }}\n",
            folder.path().display(),
            log.display()
        );
        fs::write(&config, text).unwrap();
        let mut server = Command::new(program);
        server.arg("-c").arg(config);
        server.stdout(Stdio::null()).stderr(Stdio::null());
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
        let log = fs::read_to_string(log).unwrap();
        let (_, mqtt) = log.split_once(" on mqtt://127.0.0.1:").unwrap();
        Ok(Self {
            url: url.unwrap(),
            mqtt: mqtt.lines().next().unwrap().parse().unwrap(),
            _process: process,
            _folder: folder,
        })
    }

    /// The port of its MQTT broker on 127.0.0.1, for the user `device` with the password `secret`.
    #[must_use]
    pub fn mqtt(&self) -> u16 {
        self.mqtt
    }

    /// The URL to connect to it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
