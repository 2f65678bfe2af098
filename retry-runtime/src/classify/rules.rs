//! The answer: another attempt or none.

use super::verdict::{Retryable, Said, Verdict};

/// Whether the rules allow another attempt, and what the error said of itself.
///
/// Whether one is made is then for the attempts, the deadline and the budget to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    /// Whether the rules allow another attempt.
    pub retry: bool,
    /// Read for the hint, for what the budget charges, and by observers.
    pub said: Said,
}

impl Ruling {
    /// No other attempt.
    #[must_use]
    pub const fn stop(said: Said) -> Self {
        Self { retry: false, said }
    }

    /// Another attempt, because a rule vouches for this error.
    #[must_use]
    pub const fn retry(said: Said) -> Self {
        Self { retry: true, said }
    }

    /// Another attempt if the error itself vouches for one: transient, throttled or refused.
    #[must_use]
    pub const fn by(said: Said) -> Self {
        Self {
            retry: said.verdict.is_retryable(),
            said,
        }
    }

    /// Another attempt for an `Ok` that `when_ok` calls a failure.
    #[must_use]
    pub const fn failed_value() -> Self {
        Self::retry(Said::new(Verdict::Transient))
    }

    /// Another attempt only if the last one provably never ran: the rule of `idempotent = false`.
    #[must_use]
    pub const fn only_refused(self) -> Self {
        let refused = matches!(self.said.verdict, Verdict::Refused);
        Self {
            retry: self.retry && refused,
            said: self.said,
        }
    }
}

/// Asks a closure about an error; gives its argument a type, so that it needs no annotation.
#[inline]
pub fn ask<E: ?Sized>(error: &E, f: impl FnOnce(&E) -> bool) -> bool {
    f(error)
}

/// Asks an error about itself, where no other rule is given.
#[inline]
pub fn verdict_of<E: Retryable + ?Sized>(error: &E) -> Said {
    Said::of(error)
}
