//! The rules that are asked before the ruling: `when_ok` about an `Ok` value, `unless` and `not_on` about an error.

use super::Call;
use super::ended::{Cut, Ended};
use super::failed::Failed;
use crate::result::{ErrorOf, FromStopped, ResultLike};

/// An attempt that ended, and what these rules say about it.
#[derive(Debug)]
pub struct Checked<R, C> {
    pub(super) ended: Ended<R, C>,
    pub(super) check: Check,
}

/// What the rules before the ruling say about an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Nothing.
    Passed,
    /// `when_ok` says that its `Ok` means failure.
    FailedValue,
    /// `unless` or `not_on` forbids another attempt.
    Vetoed,
}

/// An attempt that ended, with or without a check.
pub trait Checks {
    /// The type that the body returns.
    type Result;
    /// The type of a cut: `Cut`, or `Never` without limits.
    type Cut;

    /// Adds a check that passed, if there is none.
    fn checked(self) -> Checked<Self::Result, Self::Cut>;
}

impl<R, C> Checks for Ended<R, C> {
    type Result = R;
    type Cut = C;

    #[inline]
    fn checked(self) -> Checked<R, C> {
        Checked {
            ended: self,
            check: Check::Passed,
        }
    }
}

impl<R, C> Checks for Checked<R, C> {
    type Result = R;
    type Cut = C;

    #[inline]
    fn checked(self) -> Self {
        self
    }
}

impl<const LIMITED: bool, K> Call<'_, LIMITED, K> {
    /// Asks `when_ok` whether an `Ok` means failure.
    #[inline]
    pub fn when_ok<R: ResultLike, C>(
        &self,
        ended: Ended<R, C>,
        means_failure: impl FnOnce(&R::Value) -> bool,
    ) -> Checked<R, C> {
        let value = match &ended {
            Ended::Returned(result) => result.as_result().ok(),
            Ended::Cut(_) => None,
        };
        let check = if value.is_some_and(means_failure) {
            Check::FailedValue
        } else {
            Check::Passed
        };
        Checked { ended, check }
    }
}

impl Call<'_, false> {
    /// Asks `unless` and `not_on` about an error.
    pub fn unless<A: Checks<Result: ResultLike>>(
        &self,
        ended: A,
        veto: impl FnOnce(&Failed<'_, ErrorOf<A::Result>>) -> bool,
    ) -> Checked<A::Result, A::Cut> {
        ended.checked().vetoed_if(veto)
    }
}

impl<K> Call<'_, true, K> {
    /// Asks `unless` and `not_on` about an error. After a timeout, asks them about the error that the caller would get.
    pub fn unless<A, M>(
        &self,
        ended: A,
        veto: impl FnOnce(&Failed<'_, ErrorOf<A::Result>>) -> bool,
    ) -> Checked<A::Result, Cut>
    where
        A: Checks<Cut = Cut, Result: ResultLike<Error: FromStopped<M>>>,
    {
        let checked = ended.checked();
        let Ended::Cut(cut) = checked.ended else {
            return checked.vetoed_if(veto);
        };
        let error = self.stopped_by(cut).map(FromStopped::from_stopped);
        if error.is_some_and(|error| veto(&Failed::new(&error, false))) {
            return Checked {
                check: Check::Vetoed,
                ..checked
            };
        }
        checked
    }
}

impl<R: ResultLike, C> Checked<R, C> {
    #[inline]
    fn vetoed_if(self, veto: impl FnOnce(&Failed<'_, R::Error>) -> bool) -> Self {
        let error = match &self.ended {
            Ended::Returned(result) => result.as_result().err(),
            Ended::Cut(_) => None,
        };
        if error.is_some_and(|error| veto(&Failed::new(error, false))) {
            return Self {
                check: Check::Vetoed,
                ..self
            };
        }
        self
    }
}
