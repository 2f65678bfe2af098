//! Which errors are worth another attempt.
//!
//! An error type gives a [`Verdict`] through [`Retryable`]. The rules of an attribute turn it into a
//! [`Ruling`].
//!
//! Nothing here names an error of another crate. The adapters do, and import this module.

mod rules;
mod verdict;

#[cfg(test)]
mod tests;

pub(crate) use self::rules::AskedDelay;
pub use self::rules::{
    Answers, IntoHint, OkAnswer, Ruling, SaysNoEffect, VerdictAnswer, ask, ask_delay, ask_ok,
    hint_in, says_no_effect, verdict_of,
};
pub use self::verdict::{Assessment, Lost, OfClient, Retryable, Verdict};
