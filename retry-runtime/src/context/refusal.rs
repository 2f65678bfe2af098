//! Why a call was refused a retry, so that the call around makes none either.

use crate::stopped::Outcome;

/// Why a call was refused a retry.
///
/// The call around is not retried if its attempt fails in the same poll. If its body went on, it failed for another
/// reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Budget,
    /// An inherited deadline. A call's own deadline refuses nothing to the calls around it.
    Deadline,
    HintTooLong,
    Cancelled,
}

impl Refusal {
    /// Returns the refusal in an outcome, if it is one. `inherited` says whether the nearest deadline was inherited.
    pub(crate) fn of(outcome: Outcome, inherited: bool) -> Option<Self> {
        match outcome {
            Outcome::Budget => Some(Self::Budget),
            Outcome::Deadline if inherited => Some(Self::Deadline),
            Outcome::HintTooLong => Some(Self::HintTooLong),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// The outcome of the call around.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Budget => Outcome::Budget,
            Self::Deadline => Outcome::Deadline,
            Self::HintTooLong => Outcome::HintTooLong,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}
