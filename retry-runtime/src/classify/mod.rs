//! What is worth another attempt.
//!
//! An error says of itself what it is ([`Retryable`]); an attribute's rules say which of them count;
//! [`Ruling`] is the answer. Generated code finds out what an error implements by method lookup, so
//! that nobody has to write a bound ([`Probe`] and [`Find`]).

pub mod find;
mod hint;
mod io;
pub(crate) mod known;
mod links;
pub mod probe;
mod ruling;
mod std_errors;
mod stopped;
mod verdict;

#[cfg(test)]
mod tests;

pub use self::find::{Find, Inside};
pub use self::hint::{Delay, hint_from, hint_in};
#[cfg(feature = "tokio-postgres")]
pub(crate) use self::io::of_kind;
pub use self::probe::Probe;
pub use self::ruling::{Ruling, ask, verdict_of};
pub use self::verdict::{Retryable, Said, Verdict};
