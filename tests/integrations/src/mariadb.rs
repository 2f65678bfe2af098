//! A private MariaDB server, in a temporary folder, on a free port of loopback.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::process::Process;
use crate::program::{Missing, Program};
use crate::{STARTS_WITHIN, free_port, is_root, run};

/// The server program. Debian does not have it on the path of most users.
pub const PROGRAM: Program = Program {
    names: &["mariadbd"],
    package: "mariadb-server",
    folders: &["/usr/sbin"],
};

/// The program that makes the folder of a server. It is in the same package.
const INSTALL: Program = Program {
    names: &["mariadb-install-db"],
    ..PROGRAM
};

/// The server, without passwords. It ends when you drop this value.
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
        let (program, install) = (PROGRAM.find()?, INSTALL.find()?);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        let mut install = Command::new(install);
        install.args(["--no-defaults", "--skip-test-db"]);
        install.args(["--auth-root-authentication-method=normal"]);
        run(in_folder(&mut install, folder.path()));
        let port = free_port();
        let process = spawn(&program, folder.path(), port);
        let mut server = Self {
            folder,
            port,
            process,
        };
        while !server.answers().await {
            // Another program took the port.
            server.port = free_port();
            server.process = spawn(&program, server.folder.path(), server.port);
        }
        Ok(server)
    }

    /// The URL to connect to it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}/mysql", self.port)
    }

    /// Kills it, as a crash would.
    ///
    /// # Panics
    ///
    /// If the server does not run.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    /// Waits until it listens. Returns `false` if it ended instead.
    async fn answers(&mut self) -> bool {
        let began = Instant::now();
        // The server writes this file when it listens.
        let listens = self.folder.path().join("pid");
        while !listens.exists() {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(began.elapsed() < STARTS_WITHIN, "mariadb is not ready");
            sleep(Duration::from_millis(10)).await;
        }
        TcpStream::connect(("127.0.0.1", self.port)).await.is_ok()
    }
}

fn spawn(program: &Path, folder: &Path, port: u16) -> Process {
    let mut server = Command::new(program);
    server
        .arg("--no-defaults")
        .arg(at("--socket", &folder.join("socket")))
        .arg(at("--pid-file", &folder.join("pid")))
        .arg(format!("--port={port}"))
        .args(["--bind-address=127.0.0.1", "--innodb-buffer-pool-size=8M"])
        // A test can use up so few connections, and need not wait for so short a timeout.
        .args(["--max-connections=20", "--innodb-lock-wait-timeout=1"])
        .args(["--innodb-flush-log-at-trx-commit=0"]);
    in_folder(&mut server, folder)
        .current_dir("/")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Process::start(&mut server).unwrap()
}

fn at(option: &str, path: &Path) -> String {
    format!("{option}={}", path.display())
}

/// Keeps the files of a server in this folder, its temporary files too. A server that starts deletes all temporary files
/// that it finds, also those of another server.
fn in_folder<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    // MariaDB refuses to run as root without this option. Tests in a container often run as root.
    if is_root() {
        command.arg("--user=root");
    }
    command
        .arg(at("--datadir", &folder.join("data")))
        .env("TMPDIR", folder.join("tmp"))
}
