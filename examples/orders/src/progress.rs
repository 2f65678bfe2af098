//! Prints what happens, and each second how many orders have ended.

use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Progress {
    began: Instant,
    /// When the numbers were printed last.
    line: Cell<Instant>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            line: Cell::new(now),
        }
    }

    /// Something happened.
    pub(crate) fn print(&self, event: &str) {
        println!("{:>5.1} s  {event}", self.began.elapsed().as_secs_f64());
    }

    /// So many orders have ended, and so many are in the queue.
    pub(crate) fn set(&self, ended: usize, queued: usize) {
        if self.line.get().elapsed() >= Duration::from_secs(1) {
            self.line.set(Instant::now());
            self.print(&format!("{ended} orders have ended, {queued} in the queue"));
        }
    }
}
