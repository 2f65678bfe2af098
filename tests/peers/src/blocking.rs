//! The measurements of functions that are not async.

use crate::callgrind::counted;
use crate::{Program, Side};

/// One kind of call of a function that is not async.
#[derive(Clone, Copy, Debug)]
pub struct BlockingRow {
    /// Its name in a command.
    pub key: &'static str,
    /// Its title in a table.
    pub title: &'static str,
    /// How many batches of calls each side makes in a comparison of times.
    batches: u32,
}

impl BlockingRow {
    /// All rows, in the order of the table.
    pub const ALL: [Self; 4] = [
        Self::new("ready", "succeeds at once, no limits", 301),
        Self::new("ready-deadline", "succeeds at once, deadline", 301),
        Self::new("three", "3 failures, no limits", 101),
        Self::new("three-deadline", "3 failures, deadline", 101),
    ];

    const fn new(key: &'static str, title: &'static str, batches: u32) -> Self {
        Self {
            key,
            title,
            batches,
        }
    }

    /// Counts the instructions of one call, with a body that only counts. The side is the loop by hand or the
    /// attribute. `None` without valgrind.
    #[must_use]
    pub fn instructions(self, program: &Program, side: Side) -> Option<u32> {
        counted(program, ["blocking", side.key(), self.key])
    }

    /// The time of the attribute's calls as a ratio to the loop by hand, with a body that sends one byte through the
    /// kernel and back.
    ///
    /// # Panics
    ///
    /// If the output of the program cannot be read.
    #[must_use]
    pub fn time(self, program: &Program) -> f64 {
        let printed = program.run(&["blocking-times", self.key, &self.batches.to_string()]);
        printed.trim().parse().expect("a ratio")
    }
}
