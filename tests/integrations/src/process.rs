//! A process that ends with this one, also if this one is killed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A process that a test or an example starts. It is killed when you drop this value.
///
/// A shell waits beside it for the end of a pipe that only this process can write to. So if this process is killed, which runs no
/// `drop`, the shell kills the other one.
#[derive(Debug)]
pub struct Process {
    process: Child,
    watcher: Child,
}

/// Waits for the end of its input. Postgres ends its sessions at SIGQUIT, and who does not know the signal is killed by it.
const WATCH: &str = "read -r _; kill -QUIT $0; sleep 1; kill -KILL $0";

impl Process {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// - The program or the shell cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.spawn()?;
        let watcher = Command::new("sh")
            .args(["-c", WATCH, &process.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Control-C ends all of this group.
            .process_group(0)
            .spawn();
        match watcher {
            Ok(watcher) => Ok(Self { process, watcher }),
            Err(error) => {
                process.kill()?;
                process.wait()?;
                Err(error)
            }
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// How it ended, if it has ended.
    ///
    /// # Errors
    ///
    /// - As [`Child::try_wait`].
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Kills it, as a crash would, and waits for its end.
    ///
    /// # Errors
    ///
    /// - As [`Child::kill`].
    pub fn kill(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // First the watcher, whose number of the process may belong to another one later.
        for process in [&mut self.watcher, &mut self.process] {
            // It may have ended already, which is not an error.
            let _: io::Result<()> = process.kill();
            let _: io::Result<ExitStatus> = process.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Read as _};

    use super::*;

    /// Whether it has begun and not ended. One that has just begun may have no command line yet.
    fn runs(process: u32) -> bool {
        // The name in brackets may hold any character. One that has ended, and that no parent has asked, is a zombie.
        let stat = fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with('Z'))
    }

    /// Whether it ends. Its command line goes before its files, so whoever sees the end of a pipe sees this too.
    fn ends(process: u32) -> bool {
        fs::read(format!("/proc/{process}/cmdline")).map_or(true, |line| line.is_empty())
    }

    #[test]
    fn it_is_killed_when_it_is_dropped_and_its_watcher_too() {
        let process = Process::start(Command::new("sleep").arg("1000")).unwrap();
        let both = [process.id(), process.watcher.id()];
        assert!(runs(both[0]));
        drop(process);
        assert!(both.into_iter().all(ends), "{both:?}");
    }

    /// This test starts itself a second time, and kills that process.
    #[test]
    fn it_ends_if_the_process_that_started_it_is_killed() {
        const INNER: &str = "REATTEMPT_STARTS_A_PROCESS";
        const NAME: &str = "process::tests::it_ends_if_the_process_that_started_it_is_killed";
        if std::env::var_os(INNER).is_some() {
            let mut pipe = Command::new("sleep");
            // Its end of the pipe shows that it runs.
            let process = Process::start(pipe.arg("1000")).unwrap();
            println!("number {}", process.id());
            std::thread::park();
        }
        let mut outer = Command::new(std::env::current_exe().unwrap())
            .args([NAME, "--exact", "--nocapture"])
            .env(INNER, "")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(outer.stdout.take().unwrap());
        let mut line = String::new();
        let process: u32 = loop {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "it ended");
            if let Some(number) = line.trim().strip_prefix("number ") {
                break number.parse().unwrap();
            }
        };
        assert!(runs(process));
        outer.kill().unwrap();
        outer.wait().unwrap();
        // The process holds the other end of this pipe too.
        lines.read_to_end(&mut Vec::new()).unwrap();
        assert!(ends(process));
    }
}
