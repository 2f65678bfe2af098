//! The keys of the attribute: those of the table, and the words of other crates for them.

mod foreign;

pub(crate) use retry_settings::keys::{Grammar, Id, KEYS, Key, PolicyKey, find};

pub(crate) use self::foreign::{Foreign, STATUS, foreign};
