//! What is wrong with a setting.

use std::fmt;

/// A message of one line: what was found, what is expected, and what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingFault {
    problem: String,
    help: String,
}

impl SettingFault {
    pub(crate) fn with_help(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            help: help.into(),
        }
    }

    /// A fault of a word that is none of those in `list`.
    pub(crate) fn unknown(problem: String, nearest: Option<String>, list: &str) -> Self {
        let nearest = nearest.map(|nearest| format!("did you mean {nearest}? "));
        Self::with_help(problem, nearest.unwrap_or_default() + list)
    }

    /// What to write.
    #[cfg(feature = "config")]
    pub(crate) fn help(&self) -> &str {
        &self.help
    }
}

/// Makes a fault whose help is an example.
pub(crate) fn fault(problem: impl Into<String>, example: &str) -> SettingFault {
    SettingFault::with_help(problem, format!("write {example}, for example"))
}

impl fmt::Display for SettingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.help)
    }
}
