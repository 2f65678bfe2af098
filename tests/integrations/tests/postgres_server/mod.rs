//! A Postgres server of the test's own: in a temporary folder, on a free port of loopback.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio_postgres::{Client, Error, NoTls};

pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    pub(crate) port: u16,
    process: Child,
}

impl Server {
    /// Starts it; `None` where Postgres is not installed.
    pub(crate) async fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            eprintln!("skipped: `initdb` is not installed (apt-get install postgresql)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let mut initdb = unprivileged(&programs.join("initdb"));
        initdb.args([
            "--auth=trust",
            "--username=postgres",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C",
            "-D",
        ]);
        run(initdb.arg(folder.path()));
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = spawn(&programs, folder.path(), port);
        let server = Self {
            programs,
            folder,
            port,
            process,
        };
        server.answers().await;
        Some(server)
    }

    /// Connects, with the connection's own task in the background.
    pub(crate) async fn connect(&self) -> Result<Client, Error> {
        connect(self.port).await
    }

    /// Waits until it does.
    pub(crate) async fn answers(&self) {
        for _ in 0..1000 {
            if self.connect().await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("postgres does not answer");
    }

    /// Ends it with all its sessions.
    pub(crate) fn stop(&mut self) {
        let mut stop = unprivileged(&self.programs.join("pg_ctl"));
        run(stop
            .args(["stop", "-s", "-m", "fast", "-D"])
            .arg(self.folder.path()));
        self.process.wait().unwrap();
    }

    /// On the same port, with the same data.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(&self.programs, self.folder.path(), self.port);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = unprivileged(&self.programs.join("pg_ctl"));
        stop.args(["stop", "-s", "-m", "immediate", "-D"])
            .arg(self.folder.path());
        // It may have been stopped before, which is no error here.
        let _: std::io::Result<std::process::Output> = stop.output();
        let _: std::io::Result<std::process::ExitStatus> = self.process.wait();
    }
}

pub(crate) async fn connect(port: u16) -> Result<Client, Error> {
    let settings = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    let (client, connection) = tokio_postgres::connect(&settings, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn spawn(programs: &Path, folder: &Path, port: u16) -> Child {
    unprivileged(&programs.join("postgres"))
        .arg("-D")
        .arg(folder)
        .args([
            "-p",
            &port.to_string(),
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories=",
        ])
        .args([
            "-c",
            "fsync=off",
            "-c",
            "max_connections=12",
            "-c",
            "superuser_reserved_connections=0",
        ])
        .args([
            "-c",
            "deadlock_timeout=50ms",
            "-c",
            "log_min_messages=panic",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Where the programs are: on the path, or where Debian puts them.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(OsString::new);
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut versions: Vec<_> = debian.map(|version| version.path().join("bin")).collect();
    versions.sort();
    let folders = std::env::split_paths(&path).chain(versions.into_iter().rev());
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// Postgres refuses to run as root, as whom a container's tests often run.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
        .arg(program);
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

fn run(command: &mut Command) {
    let output = command.current_dir("/").output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
