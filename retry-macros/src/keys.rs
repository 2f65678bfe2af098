//! The keys of the attribute: those of the table, and the words of other crates for them.

mod foreign;
mod table;

pub(crate) use self::table::{Grammar, Id, KEYS, Key, PolicyKey, find, keys};

pub(crate) use self::foreign::{ForeignWord, foreign};
