//! The instructions of one call.

use super::table::{Table, number};
use crate::{Program, Row, Side, instructions};

/// The counts, row by row.
#[derive(Debug)]
pub struct Counts {
    sides: Vec<Side>,
    rows: Vec<(Row, Vec<Option<u32>>)>,
}

impl Counts {
    /// Counts the calls of some sides. Without valgrind there are no numbers.
    #[must_use]
    pub fn of(program: &Program, sides: &[Side], rows: &[Row]) -> Self {
        let count = |row: Row| {
            let able = row.sides();
            let count = |side: &Side| {
                let able = able.contains(side);
                able.then(|| instructions(program, *side, row)).flatten()
            };
            (row, sides.iter().map(count).collect())
        };
        Self {
            sides: sides.to_vec(),
            rows: rows.iter().map(|&row| count(row)).collect(),
        }
    }

    /// The table in Markdown.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = Table::new("instructions", self.sides.iter().map(|side| side.title()));
        for (row, counts) in &self.rows {
            table.row(row.title, counts.iter().copied().map(number));
        }
        table.text()
    }

    /// One side's instructions divided by another's.
    pub(crate) fn ratio(&self, row: Row, side: Side, by: Side) -> Option<f64> {
        let count = |side| self.count(row, side).map(f64::from);
        Some(count(side)? / count(by)?)
    }

    fn count(&self, row: Row, side: Side) -> Option<u32> {
        let place = self.sides.iter().position(|&found| found == side)?;
        let (_, counts) = self.rows.iter().find(|(found, _)| found.key == row.key)?;
        counts[place]
    }
}
