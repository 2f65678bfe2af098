//! The processes of the consumers, which can be killed.

use std::env;
use std::io;
use std::process::Command;
use std::time::Duration;

use integrations::process::Process;
use tokio::time::sleep;

use crate::Failure;

/// The two processes that work. They are killed when this is dropped, and when this program is killed.
#[derive(Debug)]
pub(crate) struct Workers {
    broker: String,
    database: String,
    running: Vec<Process>,
}

impl Workers {
    pub(crate) fn start(broker: &str, database: &str) -> io::Result<Self> {
        let mut workers = Self {
            broker: broker.to_owned(),
            database: database.to_owned(),
            running: Vec::new(),
        };
        workers.start_another()?;
        workers.start_another()?;
        Ok(workers)
    }

    /// Starts this program again, as a worker.
    fn start_another(&mut self) -> io::Result<()> {
        let mut worker = Command::new(env::current_exe()?);
        worker.args(["worker", &self.broker, &self.database]);
        self.running.push(Process::start(&mut worker)?);
        Ok(())
    }

    /// Kills the oldest with SIGKILL, so it cannot give anything back, and starts another one.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.running.remove(0).kill()?;
        self.start_another()
    }

    /// Ends the oldest with SIGTERM, as a deployment does, and starts another one.
    pub(crate) async fn replace(&mut self) -> Result<(), Failure> {
        terminate(self.running.remove(0)).await?;
        Ok(self.start_another()?)
    }

    /// Stops the oldest for this long, as a suspended machine does. It then goes on with what it had.
    pub(crate) async fn stand_still(&self, time: Duration) -> io::Result<()> {
        send(&self.running[0], "-STOP")?;
        sleep(time).await;
        send(&self.running[0], "-CONT")
    }

    /// Ends all with SIGTERM.
    pub(crate) async fn terminate(&mut self) -> Result<(), Failure> {
        for worker in self.running.drain(..) {
            terminate(worker).await?;
        }
        Ok(())
    }
}

/// Sends SIGTERM, and waits until the process has ended by itself.
async fn terminate(mut process: Process) -> Result<(), Failure> {
    send(&process, "-TERM")?;
    loop {
        match process.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("a consumer ended with {status}").into()),
            None => sleep(Duration::from_millis(20)).await,
        }
    }
}

fn send(process: &Process, signal: &str) -> io::Result<()> {
    let id = process.id().to_string();
    Command::new("kill").args([signal, &id]).status()?;
    Ok(())
}
