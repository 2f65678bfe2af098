//! The table of the keys of the attribute, in the order of the documentation.
//!
//! The parser, the suggestions, the lists of valid keys and the messages use it. A test compares the
//! tables of the documentation with it.

mod foreign;

pub(crate) use self::foreign::{ForeignWord, foreign};

use std::fmt;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// How the value is written.
    pub(crate) grammar: Grammar,
    /// What messages call the value: `a duration`.
    pub(crate) kind: &'static str,
    /// The key with a value, as text to paste.
    pub(crate) example: &'static str,
    /// Why a duration must not be zero, and what to do instead.
    pub(crate) zero: Option<(&'static str, &'static str)>,
    /// The duration that holds where nothing sets the key.
    pub(crate) default: Option<Duration>,
    /// The keys whose durations must be at least as long.
    pub(crate) at_most: &'static [Id],
    /// Whether the key has no effect beside a list of delays.
    pub(crate) delays_replace: bool,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The grammar by which the parser finds the end of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// An expression.
    Expr,
    /// A path or a closure.
    Function,
    /// Values: a list in brackets or in parentheses.
    List,
    /// Types, separated by `|`, or a list in parentheses.
    Types,
    /// Types as above, a path or a closure.
    Rule,
    /// No value: the key alone.
    Flag,
}

impl Grammar {
    /// Returns whether `key(a, b)` may be written.
    pub(crate) fn is_list(self) -> bool {
        matches!(self, Self::List | Self::Types | Self::Rule)
    }
}

/// Writes the table `KEYS` and the enum `Id`, so that both have the same keys.
macro_rules! keys {
    (@some) => { None };
    (@some $($value:expr),+) => { Some(($($value),+)) };
    ($vis:vis, $(
        $id:ident $name:literal $grammar:ident, $kind:literal, $example:literal
            $(, above_zero $why:literal, $help:literal)? $(, default $default:expr)?
            $(, at_most $long:ident)* $(, delays_replace $replace:literal)?;
    )*) => {
        $vis static KEYS: &[&crate::keys::Key] = &[$(Id::$id.key()),*];

        /// A key of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum Id {
            $(#[doc = concat!("`", $name, "`")] $id),*
        }

        impl Id {
            /// All keys, in the order of the table.
            $vis const ALL: &[Self] = &[$(Self::$id),*];

            /// Returns the key of this name.
            $vis fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$id),)*
                    _ => None,
                }
            }

            /// Returns the row of the key.
            $vis const fn key(self) -> &'static crate::keys::Key {
                match self {
                    $(Self::$id => const { &crate::keys::Key {
                        name: $name,
                        grammar: crate::keys::Grammar::$grammar,
                        kind: $kind,
                        example: $example,
                        zero: crate::keys::keys!(@some $($why, $help)?),
                        default: crate::keys::keys!(@some $($default)?),
                        at_most: &[$(crate::keys::Id::$long),*],
                        delays_replace: false $(| $replace)?,
                    } }),*
                }
            }
        }
    };
}

pub(crate) use keys;

keys! {
    pub(crate),
    Attempts "attempts" Expr, "a whole number from 1, or `\"unlimited\"`", "attempts = 4";
    Timeout "timeout" Expr, "a duration", "timeout = \"1.5s\"",
        above_zero "no attempt could end in time", "leave it out for no limit", at_most Deadline;
    Deadline "deadline" Expr, "a duration", "deadline = \"5s\"",
        above_zero "no call could end in time", "leave it out for no limit";
    Backoff "backoff" Expr, "the name of a backoff", "backoff = \"exponential\"",
        delays_replace true;
    Base "base" Expr, "a duration", "base = \"100ms\"",
        default Duration::from_millis(100), at_most MaxDelay, delays_replace true;
    ThrottledBase "throttled_base" Expr, "a duration", "throttled_base = \"1s\"",
        at_most MaxDelay, delays_replace true;
    MinDelay "min_delay" Expr, "a duration", "min_delay = \"10ms\"",
        default Duration::ZERO, at_most MaxDelay, delays_replace true;
    MaxDelay "max_delay" Expr, "a duration", "max_delay = \"20s\"",
        above_zero "no retry would wait", "write `base = \"0s\"` to retry without waiting",
        default Duration::from_secs(20), delays_replace true;
    Factor "factor" Expr, "a number from 1 to 1000", "factor = 2.0", delays_replace true;
    Jitter "jitter" Expr, "the name of a jitter", "jitter = \"full\"";
    Delays "delays" List, "a list of durations", "delays = [\"0s\", \"200ms\", \"5s\"]";
    MaxRetryAfter "max_retry_after" Expr, "a duration", "max_retry_after = \"60s\"",
        default Duration::from_secs(60);
    RetryAfter "retry_after" Function, "a path, or a closure with one argument", "retry_after = MyError::wait";
    On "on" Types, "error types", "on = \"io::Error\"";
    When "when" Function, "a path, or a closure with one argument", "when = \"MyError::is_temporary\"";
    Verdict "verdict" Function, "a path, or a closure with one argument", "verdict = verdict_of";
    Unless "unless" Rule, "error types, a path, or a closure with one argument", "unless = \"MyError::is_fatal\"";
    WhenOk "when_ok" Function, "a path, or a closure with one argument", "when_ok = \"Response::is_busy\"";
    Until "until" Function, "a path, or a closure with one argument", "until = \"Job::is_done\"";
    Policy "policy" Expr, "a `Policy`", "policy = FAST_IO";
    Budget "budget" Expr, "a `Budget`, or `\"none\"`", "budget = PAYMENTS";
    Hedge "hedge" Expr, "a duration", "hedge = \"20ms\"",
        above_zero "each call would make two attempts at once",
            "write the time after which an attempt is slow, such as `hedge = \"20ms\"`",
        at_most Timeout, at_most Deadline;
    Idempotent "idempotent" Expr, "`true` or `false`", "idempotent = false";
    Nested "nested" Expr, "the name of a way to count nested retries", "nested = \"add\"";
    Cancel "cancel" Expr, "a future", "cancel = self.shutdown.cancelled()";
    CancelWaits "cancel_waits" Expr, "a future", "cancel_waits = self.shutdown.cancelled()";
    OnRetry "on_retry" Function, "a path, or a closure with one argument", "on_retry = |event| println!(\"{event:?}\")";
    BeforeRetry "before_retry" Expr, "an async closure, or a future",
        "before_retry = self.reconnect()";
    OnEnd "on_end" Function, "a path, or a closure with one argument", "on_end = |report| println!(\"{report}\")";
    Blocking "blocking" Flag, "no value", "blocking";
    Sensitive "sensitive" Flag, "no value", "sensitive";
    Silent "silent" Flag, "no value", "silent";
    Name "name" Expr, "a name in quotes, or a `&'static str`", "name = \"payments\"";
    Crate "crate" Expr, "a path", "crate = \"::my_crate::reattempt\"";
}

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
