//! The time of one call, as a ratio to the loop by hand.

use super::table::{Table, ratio};
use crate::{Program, Row, Side};

/// The medians, row by row.
#[derive(Debug)]
pub struct Times(Vec<(Row, Vec<Option<f64>>)>);

impl Times {
    /// Compares all sides. Each round makes a batch of calls on each of them.
    ///
    /// # Panics
    ///
    /// If the output of the program cannot be read.
    #[must_use]
    pub fn of(program: &Program, rounds: u32) -> Self {
        let times = |row: Row| {
            let printed = program.run(&["times", row.key, &rounds.to_string()]);
            let ratio = |side: Side| {
                let mut lines = printed.lines();
                let ratio = lines.find_map(|line| line.strip_prefix(&format!("{side} ")));
                ratio.map(|ratio| ratio.parse().expect("a ratio"))
            };
            (row, Side::ALL.into_iter().map(ratio).collect())
        };
        Self(Row::ALL.into_iter().map(times).collect())
    }

    /// The table in Markdown.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = Table::new("time / by hand", Side::ALL.map(Side::title));
        for (row, times) in &self.0 {
            table.row(row.title, times.iter().copied().map(ratio));
        }
        table.text()
    }
}
