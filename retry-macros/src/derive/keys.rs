//! The words of `#[retryable(…)]`, and where each may stand.

use crate::keys::keys;

keys! {
    pub(crate),
    Transient "transient" Flag, "no value", "transient";
    Throttled "throttled" Flag, "no value", "throttled";
    Refused "refused" Flag, "no value", "refused";
    Conflict "conflict" Flag, "no value", "conflict";
    Permanent "permanent" Flag, "no value", "permanent";
    Unknown "unknown" Flag, "no value", "unknown";
    Forward "forward" Flag, "no value", "forward";
    With "with" Expr, "the path of a function that gives a `Verdict`", "with = \"path::to_function\"";
    After "after" Expr, "a field's name or the path of a method", "after = \"field\"";
    Crate "crate" Expr, "where `reattempt` is", "crate = \"path::to::reattempt\"";
}

/// The kind of item that an attribute stands above.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Struct,
    Enum,
    Variant,
    Field,
}

impl Target {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Struct => "a struct",
            Self::Enum => "an enum",
            Self::Variant => "a variant",
            Self::Field => "a field",
        }
    }

    /// Whether a word may stand here.
    pub(crate) fn takes(self, word: Id) -> bool {
        match word {
            Id::Forward => true,
            Id::Crate => matches!(self, Self::Struct | Self::Enum),
            _ => self != Self::Field,
        }
    }

    /// The words that may stand here.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        let words = Id::ALL.iter().filter(move |word| self.takes(**word));
        words.map(|word| word.key().name)
    }
}
