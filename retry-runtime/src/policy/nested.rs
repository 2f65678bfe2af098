//! How the retries of a call combine with those of outer calls.

use crate::words::words;

/// How the retries of a function combine with those of outer annotated functions.
///
/// If retries multiplied, three layers of four attempts would run the innermost body 64 times, while its service is
/// failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Nested {
    /// Retries add: the failed retries of the same operation in earlier attempts of outer calls are
    /// subtracted in later ones. Two layers of four attempts run the body at most 7 times, three layers at most 10
    /// times. The default.
    #[default]
    Add,
    /// Retries multiply, as if there were no outer calls: two layers of four attempts run the body up to 16 times.
    Multiply,
    /// Only the outermost call retries. Within another call, this function makes one attempt.
    Outermost,
}

words! {
    Nested, "Returns the word used in the attribute and in logs.",
    Self::Add => "add",
    Self::Multiply => "multiply",
    Self::Outermost => "outermost",
}
