//! What is worth another attempt.
//!
//! An error says of itself what it is ([`Retryable`]); an attribute's rules say which of them count;
//! [`Ruling`] is the answer. Generated code finds out what an error implements by method lookup, so
//! that nobody has to write a bound ([`Probe`] and [`Find`]).

pub mod find;
mod hint;
mod links;
pub mod probe;
mod rules;
mod verdict;

#[cfg(test)]
mod tests;

pub use self::find::{Find, Inside};
pub use self::hint::{Delay, hint_from, hint_in};
pub(crate) use self::links::{Links, as_type, ends_all};
pub use self::probe::Probe;
pub use self::rules::{Ruling, ask, verdict_of};
pub use self::verdict::{Retryable, Said, Verdict};
