//! How the retries of an annotated function combine with those of the ones it is called from.

use std::fmt;

/// How a function's own retries count when it is called within an attempt of another annotated one.
///
/// Three layers of four attempts each would otherwise make 64 calls of the innermost body out of one,
/// at the moment when the service behind it can least bear them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Nested {
    /// Retries add: what the function spent in earlier attempts of the calls around it is not there
    /// in later ones. Two layers of four attempts make at most 7 calls, three at most 10. The default.
    #[default]
    Add,
    /// Retries multiply, as if nobody knew of the calls around: 4 × 4 makes 16.
    Multiply,
    /// Only the outermost call retries; within another call this function is tried once.
    Outermost,
}

impl Nested {
    /// The word for it in attribute, configuration and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Multiply => "multiply",
            Self::Outermost => "outermost",
        }
    }
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
