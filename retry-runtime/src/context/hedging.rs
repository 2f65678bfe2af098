//! Two attempts of one call side by side: the first one, and the hedge.
//!
//! The frame has what belongs to the attempt that is polled, or that ended last: the *present* one. What belongs to the other
//! is here. So the frame of a call that does not hedge is as small as before.

use std::sync::Arc;
use std::time::Duration;

use super::facts::{Leeway, Previous, Refusal};
use super::open_commits::OpenCommits;
use crate::report::Hedge;
use crate::trace::SpanBeside;

/// What a call knows of its hedge.
#[derive(Debug)]
pub(crate) struct Hedging {
    pub(super) result: Hedge,
    /// Whether the present attempt is the hedge.
    pub(super) present_is_hedge: bool,
    /// What belongs to the other attempt, while that runs.
    pub(super) other: Option<OfAttempt>,
    /// What calls inside the attempts that follow may do.
    pub(super) inside: Leeway,
    /// The failure that was set aside, and the delay that its server asked for.
    pub(super) aside: Option<(Previous, Option<Duration>)>,
    /// The retry that a call inside the present attempt was refused, in the poll in which this ended.
    pub(super) refused: Option<Refusal>,
}

/// What belongs to one attempt alone.
#[derive(Debug)]
pub(super) struct OfAttempt {
    pub(super) until: u64,
    pub(super) again: bool,
    pub(super) inside: Leeway,
    pub(super) called: u8,
    pub(super) open_commits: Option<Arc<OpenCommits>>,
    pub(super) span: SpanBeside,
}

/// Which of two attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    Hedge,
}

impl Hedging {
    pub(super) fn new(result: Hedge, inside: Leeway) -> Self {
        Self {
            result,
            present_is_hedge: false,
            other: None,
            inside,
            aside: None,
            refused: None,
        }
    }
}
