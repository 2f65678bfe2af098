//! The rows: the kinds of calls that are measured.

use std::str::FromStr;

use crate::Side;

/// One kind of call.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name in a command.
    pub key: &'static str,
    /// Its title in a table.
    pub title: &'static str,
    /// How many attempts of each call fail before one succeeds.
    pub failures: u32,
    /// Whether each attempt is pending once.
    pub pends: bool,
    /// Whether each attempt has a timeout and the call has a deadline.
    pub limits: bool,
}

impl Row {
    /// All rows, in the order of the tables.
    #[rustfmt::skip]
    pub const ALL: [Self; 9] = [
        Self::new("ready", "ready at once, no limits", 0, false, false),
        Self::new("ready-limits", "ready at once, timeout and deadline", 0, false, true),
        Self::new("pending", "pending once, no limits", 0, true, false),
        Self::new("pending-limits", "pending once, limits", 0, true, true),
        Self::new("one", "1 failure, no limits", 1, false, false),
        Self::new("one-limits", "1 failure, limits", 1, false, true),
        Self::new("three", "3 failures, no limits", 3, false, false),
        Self::new("three-limits", "3 failures, limits", 3, false, true),
        Self::new("three-pending", "3 failures, each attempt pending once, limits", 3, true, true),
    ];

    const fn new(
        key: &'static str,
        title: &'static str,
        failures: u32,
        pends: bool,
        limits: bool,
    ) -> Self {
        Self {
            key,
            title,
            failures,
            pends,
            limits,
        }
    }

    /// The sides that can do this work. A function without retries cannot survive a failure, and has no limits.
    #[must_use]
    pub fn sides(self) -> Vec<Side> {
        let plain = self.failures == 0 && !self.limits;
        let sides = Side::ALL.into_iter();
        sides.filter(|&side| plain || side != Side::Plain).collect()
    }
}

impl FromStr for Row {
    type Err = String;

    fn from_str(key: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|row| row.key == key);
        found.ok_or_else(|| format!("there is no row `{key}`"))
    }
}
