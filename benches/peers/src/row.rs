//! What is measured: the sides, and the work that each of them does.

/// The sides, by the names that the program `subjects` knows them by.
pub const SIDES: [&str; 2] = ["hand", "ours"];

/// One kind of call.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// How a command names it.
    pub key: &'static str,
    /// How a table names it.
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
    pub const ALL: [Self; 9] = [
        Self::new("ready", "ready at once, no limits", 0, false, false),
        Self::new(
            "ready-limits",
            "ready at once, timeout and deadline",
            0,
            false,
            true,
        ),
        Self::new("pending", "pending once, no limits", 0, true, false),
        Self::new("pending-limits", "pending once, limits", 0, true, true),
        Self::new("one", "1 failure, no limits", 1, false, false),
        Self::new("one-limits", "1 failure, limits", 1, false, true),
        Self::new("three", "3 failures, no limits", 3, false, false),
        Self::new("three-limits", "3 failures, limits", 3, false, true),
        Self::new(
            "three-pending",
            "3 failures, each attempt pending once, limits",
            3,
            true,
            true,
        ),
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

    /// Finds a row by its key.
    #[must_use]
    pub fn named(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.key == key)
    }
}
