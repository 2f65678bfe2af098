//! Why a call was refused a retry, so that the call around makes none either.

use crate::stopped::Outcome;

/// Why a call was refused a retry.
///
/// The call around is not retried if its attempt fails in the same poll. A body that went on failed for
/// another reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Budget,
    /// A deadline from further out. With its own deadline a call refuses nothing to those around.
    Deadline,
    HintTooLong,
    Cancelled,
}

impl Refusal {
    /// The refusal in how a call ended, if it was one. `inherited` is said of the nearest deadline.
    pub(crate) fn of(outcome: Outcome, inherited: bool) -> Option<Self> {
        match outcome {
            Outcome::Budget => Some(Self::Budget),
            Outcome::Deadline if inherited => Some(Self::Deadline),
            Outcome::HintTooLong => Some(Self::HintTooLong),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// How the call around ends for it.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Budget => Outcome::Budget,
            Self::Deadline => Outcome::Deadline,
            Self::HintTooLong => Outcome::HintTooLong,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}
