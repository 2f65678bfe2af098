//! A private Redis server, in a temporary folder, on a free port of loopback.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use redis::aio::{ConnectionManagerConfig, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, RedisResult};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::process::Process;
use crate::program::{Missing, Program};
use crate::{STARTS_WITHIN, free_port, until};

/// The server program.
pub const PROGRAM: Program = Program {
    names: &["redis-server"],
    package: "redis-server",
    folders: &[],
};

/// The server. It ends when you drop this value.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    port: u16,
    process: Process,
}

impl Server {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// - [`PROGRAM`] is not installed.
    ///
    /// # Panics
    ///
    /// If it is installed and cannot be started.
    pub async fn start() -> Result<Self, Missing> {
        PROGRAM.find()?;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let process = spawn(folder.path(), port);
        let mut server = Self {
            folder,
            port,
            process,
        };
        while !server.answers().await {
            server.port = free_port();
            server.restart();
        }
        Ok(server)
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A client for it, which is not connected yet.
    ///
    /// # Panics
    ///
    /// Never: the address is well-formed.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::open(format!("redis://127.0.0.1:{}/", self.port)).unwrap()
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// - The server does not answer.
    pub async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        connect(&self.client()).await
    }

    /// Waits until so many clients wait in a command that blocks.
    ///
    /// # Panics
    ///
    /// If there are not so many within 90 s.
    pub async fn until_blocked(&self, clients: usize) {
        let mut admin = self.connect().await.unwrap();
        let mut about = redis::cmd("INFO");
        about.arg("clients");
        let line = format!("blocked_clients:{clients}\r\n");
        until(&line, async || {
            let said: String = about.query_async(&mut admin).await.unwrap();
            said.contains(&line)
        })
        .await;
    }

    /// Kills it, as a crash would.
    ///
    /// # Panics
    ///
    /// If the server does not run.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    /// Starts it again, on the same port, with the data on its disk. Does not wait until it answers.
    pub fn restart(&mut self) {
        self.process = spawn(self.folder.path(), self.port);
    }

    /// Waits until it answers. Returns `false` if it ended instead.
    ///
    /// # Panics
    ///
    /// If it takes longer than 90 s.
    pub async fn answers(&mut self) -> bool {
        let began = Instant::now();
        loop {
            if self.is_there().await {
                return true;
            }
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(began.elapsed() < STARTS_WITHIN, "redis does not answer");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Whether this server answers. Another server may have taken the port.
    async fn is_there(&self) -> bool {
        let Ok(mut connection) = self.connect().await else {
            return false;
        };
        let about = redis::cmd("INFO")
            .arg("server")
            .query_async::<String>(&mut connection)
            .await;
        let process = format!("process_id:{}\r\n", self.process.id());
        about.is_ok_and(|about| about.contains(&process))
    }
}

/// Connects, and gives a busy machine more time for each answer than the half second of the client.
///
/// # Errors
///
/// - As [`Client::get_multiplexed_async_connection`].
pub async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(STARTS_WITHIN))
        .set_response_timeout(Some(STARTS_WITHIN));
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// The same for a manager, which retries nothing.
#[must_use]
pub fn manager() -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_number_of_retries(0)
        .set_connection_timeout(Some(STARTS_WITHIN))
        .set_response_timeout(Some(STARTS_WITHIN))
}

fn spawn(folder: &Path, port: u16) -> Process {
    let mut server = Command::new("redis-server");
    server
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "yes"])
        // What was written outlives the process, and no test waits for the disk.
        .args(["--appendfsync", "no", "--dir"])
        .arg(folder)
        .stdout(Stdio::null());
    Process::start(&mut server).unwrap()
}
