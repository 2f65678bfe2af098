//! Why a call was refused a retry. The call around then makes no retry either.

use crate::stopped::Outcome;

/// Why a call was refused a retry.
///
/// The call around does not retry if its attempt fails in the same poll. If its body goes on after the refusal, the
/// attempt may fail for another reason, so the refusal no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Budget,
    /// The deadline is also that of the call around. Other deadlines do not stop it.
    Deadline,
    HintTooLong,
    Cancelled,
}

impl Refusal {
    /// Returns the refusal that an outcome stands for, if any.
    pub(crate) fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Budget => Some(Self::Budget),
            Outcome::Deadline => Some(Self::Deadline),
            Outcome::HintTooLong => Some(Self::HintTooLong),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// Returns the outcome of the call around.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Budget => Outcome::Budget,
            Self::Deadline => Outcome::Deadline,
            Self::HintTooLong => Outcome::HintTooLong,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}
