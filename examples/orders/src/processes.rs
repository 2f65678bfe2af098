//! The processes of the workers, which can be killed.

use std::env;
use std::io;
use std::process::Command;

use integrations::process::Process;

/// The processes that run the jobs. They are killed when this is dropped, and when this program is killed.
#[derive(Debug)]
pub(crate) struct Workers {
    database: String,
    payments: String,
    /// Each with its name.
    running: Vec<(String, Process)>,
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
        let mut worker = Command::new(env::current_exe()?);
        worker.args(["worker", &name, &self.database, &self.payments]);
        let process = Process::start(&mut worker)?;
        self.running.push((name, process));
        Ok(())
    }

    /// Kills a worker with SIGKILL, so it cannot put anything in order, and starts another one.
    pub(crate) fn kill(&mut self, name: &str) -> io::Result<()> {
        for (_, mut process) in self.running.extract_if(.., |(running, _)| running == name) {
            process.kill()?;
        }
        self.start_another()
    }
}
