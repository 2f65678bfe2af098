//! The processes of the workers, which can be killed.

use std::env;
use std::io;
use std::process::{Child, Command};

/// The processes that run the jobs. They are killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Workers {
    database: String,
    payments: String,
    /// Each with its name.
    running: Vec<(String, Child)>,
    /// How many were started.
    started: usize,
}

impl Workers {
    /// Starts two.
    pub(crate) fn start(database: String, payments: String) -> io::Result<Self> {
        let mut workers = Self {
            database,
            payments,
            running: Vec::new(),
            started: 0,
        };
        workers.start_another()?;
        workers.start_another()?;
        Ok(workers)
    }

    /// Starts this program again, as a worker.
    fn start_another(&mut self) -> io::Result<()> {
        self.started += 1;
        let name = format!("worker {}", self.started);
        let process = Command::new(env::current_exe()?)
            .args(["worker", &name, &self.database, &self.payments])
            .spawn()?;
        self.running.push((name, process));
        Ok(())
    }

    /// Kills a worker with SIGKILL, so it cannot put anything in order, and starts another one.
    pub(crate) fn kill(&mut self, name: &str) -> io::Result<()> {
        for (_, mut process) in self.running.extract_if(.., |(running, _)| running == name) {
            process.kill()?;
            process.wait()?;
        }
        self.start_another()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (_, process) in &mut self.running {
            // It may have ended by itself, which is not an error here.
            let _: io::Result<()> = process.kill();
            let _: io::Result<_> = process.wait();
        }
    }
}
