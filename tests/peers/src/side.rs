//! The sides: the ways to retry that are measured.

use std::fmt;
use std::str::FromStr;

/// One way to retry, or not to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// No retry at all.
    Plain,
    /// A loop written by hand.
    Hand,
    /// The attribute.
    Ours,
    /// `run!`, which becomes the same code. So only what it costs to compile is measured.
    Run,
    /// `backon`.
    Backon,
    /// `backon-macros`.
    BackonMacros,
    /// `tokio-retry2`.
    TokioRetry2,
    /// `tower`.
    Tower,
    /// `mettle`.
    Mettle,
}

impl Side {
    /// All sides whose calls are measured, in the order of the tables.
    pub const ALL: [Self; 8] = [
        Self::Plain,
        Self::Hand,
        Self::Ours,
        Self::Backon,
        Self::BackonMacros,
        Self::TokioRetry2,
        Self::Tower,
        Self::Mettle,
    ];

    /// Other crates that retry.
    pub const PEERS: [Self; 5] = [
        Self::Backon,
        Self::BackonMacros,
        Self::TokioRetry2,
        Self::Tower,
        Self::Mettle,
    ];

    /// Its name in a command, which is the name of the crate if the side is a crate.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Hand => "hand",
            Self::Ours => "ours",
            Self::Run => "run",
            Self::Backon => "backon",
            Self::BackonMacros => "backon-macros",
            Self::TokioRetry2 => "tokio-retry2",
            Self::Tower => "tower",
            Self::Mettle => "mettle",
        }
    }

    /// Its title in a table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Plain => "no retry",
            Self::Hand => "by hand",
            Self::Ours => "`#[retry]`",
            Self::Run => "`run!`",
            crate_ => crate_.key(),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.key())
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(key: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|side| side.key() == key);
        found.ok_or_else(|| format!("there is no side `{key}`"))
    }
}
