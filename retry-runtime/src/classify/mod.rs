//! Which errors are worth another attempt.
//!
//! An error type gives a [`Verdict`] through [`Retryable`]. The rules of an attribute turn it into a
//! [`Ruling`]. Generated code finds out what an error type implements by method lookup ([`Probe`]), so that annotated
//! functions need no bounds.
//!
//! Nothing here names an error of another crate. The adapters do, and import this module.

mod hint;
mod links;
pub mod probe;
mod rules;
mod verdict;

#[cfg(test)]
mod tests;

pub use self::hint::{IntoHint, hint_from, hint_in};
pub(crate) use self::links::{Links, as_type};
pub use self::probe::Probe;
pub use self::rules::{Ruling, ask, verdict_of};
pub use self::verdict::{Retryable, Said, Verdict};
