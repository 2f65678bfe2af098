//! The mistakes in a configuration.

use std::fmt;

/// The mistakes in a configuration: the first 20, and how many more there are. At least one.
///
/// `Display` shows one line for each of the 20, and a last line with the number of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<Problem>,
    more: usize,
}

/// How many mistakes are named. Chosen by us: a person mends a few at a time, and a file that is none of ours may have
/// any number.
const MOST: usize = 20;

impl ConfigError {
    /// An error without mistakes, to which they are added.
    pub(super) const fn none() -> Self {
        Self {
            problems: Vec::new(),
            more: 0,
        }
    }

    /// Adds a mistake. `problem` runs only if the mistake will be named, so each of the others costs an addition.
    pub(super) fn add(&mut self, problem: impl FnOnce() -> Problem) {
        if self.problems.len() < MOST {
            self.problems.push(problem());
        } else {
            self.more += 1;
        }
    }

    /// Returns the first 20 mistakes, in the order of files, lines and variables. Settings that contradict each other come
    /// last.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns how many mistakes there are beside [`problems`](Self::problems).
    #[must_use]
    pub const fn more(&self) -> usize {
        self.more
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self {
            problems: vec![problem],
            more: 0,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.more {
            0 => Ok(()),
            1 => f.write_str("\nand 1 more mistake"),
            more => write!(f, "\nand {more} more mistakes"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// One mistake in a configuration: where it is, what was found, and what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    origin: String,
    line: Option<usize>,
    message: String,
}

impl Problem {
    pub(super) fn new(
        origin: impl Into<String>,
        line: Option<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            origin: origin.into(),
            line,
            message: message.into(),
        }
    }

    /// Returns the name of the file, as you gave it, or the name of the variable. A longer name of a variable is cut
    /// after 256 characters.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the line in the file, from 1. It is `None` for a variable, and for a mistake that is not on one line.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns what was found, what is expected, and the nearest known name, if there is one. One line, with at most 60
    /// characters of what was found in one place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Shows the place and the message: `retry.toml:4: …`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
