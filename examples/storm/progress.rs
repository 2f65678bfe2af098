//! Progress: a bar on a terminal, otherwise a line for each part.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn begin(part: &'static str, steps: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            eprintln!("{part} …");
        }
        let style = ProgressStyle::with_template("{msg:22} {bar:40} {pos}/{len} {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        // `indicatif` hides it if standard error is not a terminal.
        let bar = ProgressBar::new(steps as u64).with_style(style);
        Self(bar.with_message(part))
    }

    /// One step is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish();
    }
}
