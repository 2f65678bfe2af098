//! A private pgbouncer before a Postgres server, in a temporary folder, on a free port of loopback.

use std::fs;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::program::{Missing, Program};
use crate::{STARTS_WITHIN, free_port, postgres};

/// The program. Debian does not have it on the path of most users.
pub const PROGRAM: Program = Program {
    names: &["pgbouncer"],
    package: "pgbouncer",
    folders: &["/usr/sbin"],
};

/// The pooler, with one connection to its server and one transaction after the other. It ends when you drop this value.
#[derive(Debug)]
pub struct Pooler {
    /// Its port on 127.0.0.1.
    pub port: u16,
    process: Child,
    _folder: TempDir,
}

impl Pooler {
    /// Starts it before the server at this port, with these lines in its settings.
    ///
    /// # Errors
    ///
    /// - [`PROGRAM`] is not installed.
    ///
    /// # Panics
    ///
    /// If it is installed and cannot be started.
    pub async fn start(server: u16, settings: &str) -> Result<Self, Missing> {
        let program = PROGRAM.find()?;
        let folder = tempfile::tempdir().unwrap();
        let (users, file) = (folder.path().join("users"), folder.path().join("settings"));
        fs::write(&users, "\"postgres\" \"\"\n").unwrap();
        let began = Instant::now();
        loop {
            let port = free_port();
            let text = format!(
                "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
                 unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 1\n\
                 ignore_startup_parameters = extra_float_digits\n\
                 {settings}\n",
                users.display()
            );
            fs::write(&file, text).unwrap();
            let mut pooler = postgres::unprivileged(&program);
            postgres::give(folder.path());
            let mut process = pooler
                .arg(&file)
                .current_dir("/")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Another program may have taken the port, and then the pooler ends.
            while process.try_wait().unwrap().is_none() {
                if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                    return Ok(Self {
                        port,
                        process,
                        _folder: folder,
                    });
                }
                sleep(Duration::from_millis(10)).await;
            }
            assert!(began.elapsed() < STARTS_WITHIN, "pgbouncer does not start");
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended already, which is not an error.
        let _: std::io::Result<()> = self.process.kill();
        let _: std::io::Result<ExitStatus> = self.process.wait();
    }
}
