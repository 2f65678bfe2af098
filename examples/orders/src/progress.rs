//! A bar on a terminal, and lines elsewhere.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    /// When the last line was printed, of those that stand for the bar.
    line: Cell<Instant>,
}

impl Progress {
    pub(crate) fn new(orders: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} orders have ended, {msg}");
        let bar = ProgressBar::new(orders as u64);
        Self {
            // The template is a constant, and correct.
            bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())),
            began: Instant::now(),
            line: Cell::new(Instant::now()),
        }
    }

    /// Something happened.
    pub(crate) fn tell(&self, event: &str) {
        let line = format!("{:>5.1} s  {event}", self.began.elapsed().as_secs_f64());
        if self.bar.is_hidden() {
            println!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// So many orders have ended, and so many are in the queue.
    pub(crate) fn set(&self, ended: usize, queued: usize) {
        self.bar.set_position(ended as u64);
        self.bar.set_message(format!("{queued} in the queue"));
        if self.bar.is_hidden() && self.line.get().elapsed() >= Duration::from_secs(1) {
            self.line.set(Instant::now());
            self.tell(&format!("{ended} orders have ended, {queued} in the queue"));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
