//! The mistakes in a configuration.

use std::fmt;

/// Every mistake in a configuration, at least one. `Display` shows one line for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl ConfigError {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// Returns the mistakes, in the order of files, lines and variables.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self::new(vec![problem])
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
        Ok(())
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

    /// Returns the name of the file, as you gave it, or the name of the variable.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the line in the file, from 1. It is `None` for a variable, and for a mistake that is not on one line.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns what was found, what is expected, and the nearest known name, if there is one. One line.
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
