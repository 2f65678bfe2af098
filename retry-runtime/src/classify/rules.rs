//! The ruling: whether the rules of an attribute allow another attempt.

use std::time::Duration;

use super::verdict::{Assessment, Retryable, Verdict};

/// The delay that an error asks for, and whether the call waits exactly that long. Of two, the longer one counts.
pub(crate) type AskedDelay = (Duration, bool);

/// Whether the rules allow another attempt, and what the error answered.
///
/// A retry also needs a remaining attempt, time before the deadline, and a permit of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four answers to four questions"
)]
pub struct Ruling {
    /// Whether the rules allow another attempt.
    pub retry: bool,
    /// Whether the hint is the delay itself, as `retry_after` says.
    pub(crate) exact: bool,
    /// What the error answered. It sets what the budget charges.
    pub(crate) verdict: Verdict,
    /// What the error asked for. It bounds the delay from below.
    pub(crate) hint: Option<Duration>,
    /// Whether the client ended the request at a limit of its own, which costs what a timeout costs.
    pub(crate) timed_out: bool,
    /// Whether the attempt may have run.
    pub(crate) may_have_run: bool,
}

impl Ruling {
    /// Allows no other attempt.
    #[must_use]
    pub const fn stop(assessment: Assessment) -> Self {
        Self::when(false, assessment)
    }

    /// Allows another attempt, because a rule matches this error.
    #[must_use]
    pub const fn retry(assessment: Assessment) -> Self {
        Self::when(true, assessment)
    }

    /// Allows another attempt if a rule says so.
    #[must_use]
    pub const fn when(retry: bool, assessment: Assessment) -> Self {
        Self {
            retry,
            exact: false,
            verdict: assessment.verdict,
            hint: assessment.hint,
            timed_out: assessment.timed_out,
            may_have_run: assessment.may_have_run,
        }
    }

    /// Allows another attempt if the verdict does: transient, throttled, refused or conflict; also unknown, if running twice is
    /// `harmless`.
    #[must_use]
    pub const fn by(assessment: Assessment, harmless: bool) -> Self {
        let unknown = harmless && matches!(assessment.verdict, Verdict::Unknown);
        Self::when(unknown || assessment.verdict.is_retryable(), assessment)
    }

    /// Allows another attempt for an `Ok` value that `when_ok` calls a failure, or that `until` does not call ready.
    #[must_use]
    pub(crate) const fn failed_value(verdict: Verdict, hint: Option<Duration>) -> Self {
        Self::retry(Assessment::new(verdict).with_hint(hint))
    }

    /// Allows no other attempt if `unless` forbids it.
    pub(crate) const fn unless(mut self, vetoed: bool) -> Self {
        self.retry &= !vetoed;
        self
    }

    /// Sets the delay itself, unless there is none.
    pub(crate) fn exactly(mut self, delay: Option<Duration>) -> Self {
        if delay.is_some() {
            self.hint = delay;
            self.exact = true;
        }
        self
    }

    /// The delay before another attempt.
    pub(crate) fn hint(self) -> Option<AskedDelay> {
        Some((self.hint?, self.exact))
    }

    /// Allows another attempt only if the last one provably had no effect, for `idempotent = false`.
    #[must_use]
    pub const fn only_without_effect(mut self) -> Self {
        self.retry &= matches!(self.verdict, Verdict::Refused | Verdict::Conflict);
        self
    }
}

/// A rule or a hook: a function of a `&S` that returns an `A`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that returns `{A}`",
    label = "expected a function that returns `{A}`",
    note = "to compare with a value, write a closure: `|error| matches!(error, MyError::Busy)`, or `|error| KINDS.contains(&error.kind())`",
    note = "rules and hooks are not async: spawn a task in a hook, or write `before_retry` in the attribute"
)]
pub trait Answers<S: ?Sized, A = ()>: FnMut(&S) -> A {}

#[diagnostic::do_not_recommend]
impl<S: ?Sized, A, F: FnMut(&S) -> A> Answers<S, A> for F {}

/// Calls a predicate of the attribute. The bound of `f` gives a closure the type of its argument.
#[inline]
pub fn ask<E: ?Sized>(error: &E, mut f: impl Answers<E, bool>) -> bool {
    f(error)
}

/// What `when_ok` and `until` answer about an `Ok`: a `bool`, or a pair of it and the delay that the `Ok` asks for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no answer about an `Ok`, expected a `bool`",
    label = "expected `bool`, or `(bool, Option<Duration>)`",
    note = "the second part is the delay that the `Ok` asks for, such as its `Retry-After`"
)]
pub trait OkAnswer {
    /// Returns the answer, and the delay.
    #[doc(hidden)]
    fn into_parts(self) -> (bool, Option<Duration>);
}

#[diagnostic::do_not_recommend]
impl OkAnswer for bool {
    fn into_parts(self) -> (bool, Option<Duration>) {
        (self, None)
    }
}

#[diagnostic::do_not_recommend]
impl OkAnswer for (bool, Option<Duration>) {
    fn into_parts(self) -> Self {
        self
    }
}

/// Calls `when_ok` or `until`. The bound of `f` gives a closure the type of its argument.
#[inline]
pub fn ask_ok<T: ?Sized, A: OkAnswer>(
    value: &T,
    f: impl FnOnce(&T) -> A,
) -> (bool, Option<Duration>) {
    f(value).into_parts()
}

/// What `verdict` answers about an error: a [`Verdict`], or a pair of it and the delay that the error asks for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no answer about an error, expected a `Verdict`",
    label = "expected `Verdict`, or `(Verdict, Option<Duration>)`",
    note = "to say yes or no, write `when` in place of `verdict`"
)]
pub trait VerdictAnswer {
    /// Returns the verdict and the hint.
    #[doc(hidden)]
    fn into_assessment(self) -> Assessment;
}

#[diagnostic::do_not_recommend]
impl VerdictAnswer for Verdict {
    fn into_assessment(self) -> Assessment {
        Assessment::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl VerdictAnswer for (Verdict, Option<Duration>) {
    fn into_assessment(self) -> Assessment {
        let (verdict, hint) = self;
        Assessment::new(verdict).with_hint(hint)
    }
}

/// Calls the `retry_after` of the attribute. The bound of `f` gives a closure the type of its argument.
#[inline]
pub fn ask_delay<E: ?Sized>(
    error: &E,
    mut f: impl Answers<E, Option<Duration>>,
) -> Option<Duration> {
    f(error)
}

/// An error whose verdict can say that an attempt had no effect.
#[diagnostic::on_unimplemented(
    message = "with `idempotent = false`, only a verdict says that an attempt had no effect, and `{Self}` has none",
    label = "no error would be retried, whatever `when` says",
    note = "name errors inside it: `on = \"std::io::Error\"`; or, for your own type, give each variant a verdict: \
            `#[derive(reattempt::Retryable)]`"
)]
pub trait SaysNoEffect: Retryable {}

#[diagnostic::do_not_recommend]
impl<E: Retryable + ?Sized> SaysNoEffect for E {}

/// Asks an error for its verdict, for an attribute with `when` and `idempotent = false`.
#[inline]
pub fn says_no_effect<E: SaysNoEffect + ?Sized>(error: &E) -> Assessment {
    Assessment::of(error)
}

/// Asks an error for its verdict, for an attribute without `on` and `when`.
#[inline]
pub fn verdict_of<E: Retryable + ?Sized>(error: &E) -> Assessment {
    match error.verdict() {
        // It is not retried, so its hint has no meaning.
        Verdict::Permanent => Assessment {
            may_have_run: error.may_have_run(),
            ..Assessment::new(Verdict::Permanent)
        },
        _ => Assessment::of(error),
    }
}

/// A delay, or none. `after` names a field of this type, or a method that returns this type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a delay",
    label = "expected `Duration` or `Option<Duration>`",
    note = "a method can return it: `after = \"Self::retry_after\"`, with `fn retry_after(&self) -> Option<Duration>`"
)]
pub trait IntoHint: Copy + Into<Option<Duration>> {}

#[diagnostic::do_not_recommend]
impl<D: Copy + Into<Option<Duration>>> IntoHint for D {}

/// Reads the delay from a field, or from what a method returned.
pub fn hint_in<D: IntoHint>(field: &D) -> Option<Duration> {
    (*field).into()
}
