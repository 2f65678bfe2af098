//! The table of the attribute's keys, in the order of the documentation.
//!
//! The parser, the suggestions, the list of valid keys and the messages use it. A test compares the tables of
//! the documentation with it.

mod foreign;

use std::fmt;

pub(crate) use self::foreign::{Foreign, foreign};

/// One key of an attribute.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) grammar: Grammar,
    /// What messages call the value: `a duration`.
    pub(crate) kind: &'static str,
    /// The key with a value, as text to paste.
    pub(crate) example: &'static str,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The grammar by which the parser finds the end of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    Expr,
    /// Values: a list in brackets or in parentheses.
    List,
    /// Types, separated by `|`, or a list in parentheses.
    Types,
    Pattern,
    /// Names: a list in parentheses.
    Names,
    /// No value: the key alone.
    Flag,
}

impl Grammar {
    /// Whether `key(a, b)` may be written.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::List | Self::Types | Self::Names)
    }
}

/// Writes the table `KEYS` and the enum `Id`, so that both have the same keys.
macro_rules! keys {
    ($($id:ident $name:literal $grammar:ident, $kind:literal, $example:literal;)*) => {
        pub(crate) static KEYS: &[&$crate::keys::Key] = &[$(Id::$id.key()),*];

        /// A key of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Id {
            $($id),*
        }

        impl Id {
            /// The key of this name.
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$id),)*
                    _ => None,
                }
            }

            pub(crate) const fn key(self) -> &'static $crate::keys::Key {
                match self {
                    $(Self::$id => &$crate::keys::Key {
                        name: $name,
                        grammar: $crate::keys::Grammar::$grammar,
                        kind: $kind,
                        example: $example,
                    }),*
                }
            }
        }
    };
}
pub(crate) use keys;

keys! {
    Attempts "attempts" Expr, "a whole number from 1, or `\"unlimited\"`", "attempts = 4";
    Timeout "timeout" Expr, "a duration", "timeout = \"1.5s\"";
    Deadline "deadline" Expr, "a duration", "deadline = \"5s\"";
    Backoff "backoff" Expr, "the name of a backoff", "backoff = \"exponential\"";
    Base "base" Expr, "a duration", "base = \"100ms\"";
    MaxDelay "max_delay" Expr, "a duration", "max_delay = \"20s\"";
    Factor "factor" Expr, "a number from 1 to 1000", "factor = 2.0";
    Jitter "jitter" Expr, "the name of a jitter", "jitter = \"full\"";
    Delays "delays" List, "a list of durations", "delays = [\"0s\", \"200ms\", \"5s\"]";
    MaxRetryAfter "max_retry_after" Expr, "a duration", "max_retry_after = \"60s\"";
    On "on" Types, "error types", "on = \"io::Error\"";
    Matches "matches" Pattern, "a pattern", "matches = \"MyError::Closed\"";
    When "when" Expr, "a path or a closure", "when = \"MyError::is_temporary\"";
    Unless "unless" Expr, "a path or a closure", "unless = \"MyError::is_fatal\"";
    NotOn "not_on" Types, "error types", "not_on = \"io::Error\"";
    WhenOk "when_ok" Expr, "a path or a closure", "when_ok = \"Response::is_busy\"";
    Policy "policy" Expr, "a `Policy`", "policy = FAST_IO";
    Budget "budget" Expr, "a `Budget`, or `\"none\"`", "budget = PAYMENTS";
    Idempotent "idempotent" Expr, "`true` or `false`", "idempotent = false";
    Nested "nested" Expr, "the name of a way to count nested retries", "nested = \"add\"";
    Cancel "cancel" Expr, "an expression giving a future", "cancel = self.shutdown.cancelled()";
    Clone "clone" Names, "names of arguments", "clone(request)";
    OnRetry "on_retry" Expr, "a path or a closure", "on_retry = |event| println!(\"{event:?}\")";
    BeforeRetry "before_retry" Expr, "an async closure or an expression giving a future",
        "before_retry = self.reconnect()";
    OnEnd "on_end" Expr, "a path or a closure", "on_end = |report| println!(\"{report}\")";
    Blocking "blocking" Flag, "no value", "blocking";
    Sensitive "sensitive" Flag, "no value", "sensitive";
    Name "name" Expr, "a string", "name = \"payments\"";
    Crate "crate" Expr, "a path", "crate = \"::my_crate::reattempt\"";
}

/// The key of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    Id::named(name).map(Id::key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for key in KEYS {
            let found = KEYS.iter().filter(|other| other.name == key.name);
            assert_eq!(found.count(), 1, "{key}");
            assert_eq!(find(key.name).map(|found| found.name), Some(key.name));
            assert!(key.example.starts_with(key.name), "{}", key.example);
            assert!(!key.kind.is_empty() && !key.kind.ends_with('.'), "{key}");
        }
        assert!(find("atempts").is_none());
    }
}
