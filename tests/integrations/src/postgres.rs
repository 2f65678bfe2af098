//! A private Postgres server, in a temporary folder, on a free port of loopback.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::time::sleep;
use tokio_postgres::{Client, Config, Error, NoTls};

use crate::process::Process;
use crate::program::{Missing, Program};
use crate::{STARTS_WITHIN, free_port, is_root, run, until};

/// One of the server's programs. The others are in the same folder, which Debian does not have on the path.
pub const PROGRAM: Program = Program {
    names: &["initdb"],
    package: "postgresql",
    folders: &["/usr/lib/postgresql/*/bin"],
};

/// The server. It ends when you drop this value.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
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
        let initdb = PROGRAM.find()?;
        let programs = initdb.parent().unwrap().to_owned();
        let folder = tempfile::tempdir().unwrap();
        give(folder.path());
        let mut initdb = unprivileged(&programs.join("initdb"));
        initdb.args(["--auth=trust", "--username=postgres", "--no-sync"]);
        initdb.args(["--encoding=UTF8", "--locale=C", "-D"]);
        run(initdb.arg(folder.path()));
        let port = free_port();
        let process = spawn(&programs, folder.path(), port);
        let mut server = Self {
            programs,
            folder,
            port,
            process,
        };
        while !server.answers().await {
            server.port = free_port();
            server.process = spawn(&server.programs, server.folder.path(), server.port);
        }
        Ok(server)
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL to connect to it.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.port)
    }

    /// Connects, with the connection's own task in the background.
    ///
    /// # Errors
    ///
    /// - The server cannot be reached, or refuses the session.
    pub async fn connect(&self) -> Result<Client, Error> {
        connect(&self.url()).await
    }

    /// Waits until so many sessions match, such as one that waits for a lock.
    ///
    /// # Panics
    ///
    /// If there are not so many within 90 s.
    pub async fn until(&self, sessions: usize, matches: &str) {
        let admin = self.connect().await.unwrap();
        let find =
            format!("SELECT FROM pg_stat_activity WHERE {matches} AND pid <> pg_backend_pid()");
        until(matches, async || {
            admin.query(&find, &[]).await.unwrap().len() >= sessions
        })
        .await;
    }

    /// Ends it with all its sessions.
    ///
    /// # Panics
    ///
    /// If the server does not run.
    pub fn stop(&mut self) {
        run(self.pg_ctl("fast").arg(self.folder.path()));
        self.process.kill().unwrap();
    }

    /// Starts it again, on the same port, with the same data.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub async fn restart(&mut self) {
        let began = Instant::now();
        loop {
            self.process = spawn(&self.programs, self.folder.path(), self.port);
            if self.answers().await {
                return;
            }
            // An outgoing connection of another program has the port, for a short time.
            assert!(began.elapsed() < STARTS_WITHIN, "port {} taken", self.port);
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until it is ready. Returns `false` if it ended instead. It reads the server's own file, because another
    /// server could answer at the port.
    async fn answers(&mut self) -> bool {
        let began = Instant::now();
        loop {
            // Line 1 is the process of the server, and line 8 its state.
            let file = self.folder.path().join("postmaster.pid");
            let text = fs::read_to_string(file).unwrap_or_default();
            let mut lines = text.lines();
            if lines.next() == Some(&self.process.id().to_string())
                && lines.nth(6).map(str::trim_end) == Some("ready")
            {
                return true;
            }
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(began.elapsed() < STARTS_WITHIN, "postgres is not ready");
            sleep(Duration::from_millis(10)).await;
        }
    }

    fn pg_ctl(&self, mode: &str) -> Command {
        let mut stop = unprivileged(&self.programs.join("pg_ctl"));
        stop.args(["stop", "-s", "-t", "90", "-m", mode, "-D"]);
        stop
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // `pg_ctl` waits in vain for a server that was killed and whose parent has not asked for its end.
        if let Ok(None) = self.process.try_wait() {
            let _: std::io::Result<ExitStatus> = self
                .pg_ctl("immediate")
                .arg(self.folder.path())
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// The URL to connect to a server at this port on 127.0.0.1.
#[must_use]
pub fn url(port: u16) -> String {
    format!("host=127.0.0.1 port={port} user=postgres dbname=postgres connect_timeout=10")
}

/// Connects, with the connection's own task in the background.
///
/// # Errors
///
/// - As [`tokio_postgres::connect`].
pub async fn connect(url: &str) -> Result<Client, Error> {
    let (client, connection) = url.parse::<Config>()?.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn spawn(programs: &Path, folder: &Path, port: u16) -> Process {
    let mut server = unprivileged(&programs.join("postgres"));
    server
        .arg("-D")
        .arg(folder)
        .args(["-p", &port.to_string()])
        .current_dir("/");
    for setting in [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "fsync=off",
        // A test can use up so few connections.
        "max_connections=20",
        "superuser_reserved_connections=0",
        "deadlock_timeout=50ms",
        "log_min_messages=panic",
    ] {
        server.args(["-c", setting]);
    }
    server.stdout(Stdio::null()).stderr(Stdio::null());
    Process::start(&mut server).unwrap()
}

/// Gives a folder to the account that runs the server.
pub(crate) fn give(folder: &Path) {
    if is_root() {
        run(Command::new("chown").arg("-R").arg(account()).arg(folder));
    }
}

/// Postgres and pgbouncer refuse to run as root, and tests in a container often run as root.
pub(crate) fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let account = account();
    let group = Command::new("id").args(["-g", account]).output().unwrap();
    let group = String::from_utf8(group.stdout).unwrap();
    let mut command = Command::new("setpriv");
    command
        .arg(format!("--reuid={account}"))
        .arg(format!("--regid={}", group.trim()))
        .arg("--clear-groups")
        .arg(program);
    command
}

/// The account of Debian's package, or else the account `nobody`.
fn account() -> &'static str {
    let id = Command::new("id").args(["-u", "postgres"]).output();
    if id.unwrap().status.success() {
        "postgres"
    } else {
        "nobody"
    }
}
