//! The part of a frame that most calls never need, and that tasks share which carry an attempt.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::facts::Previous;
use super::key::IdempotencyKey;
use super::open_commits::OpenCommits;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::report::Hedge;
use crate::test_scope::CallInScope;
use crate::trace::{Entered, Spans};

/// What most calls never need.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    key: OnceLock<IdempotencyKey>,
    /// What its test scope gives to the call, if it began in one.
    pub(crate) scope: OnceLock<CallInScope>,
    // Rarely contended: only the task of the call and tasks that carry its attempt lock it.
    notes: Mutex<Noted>,
}

#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The number of the attempt that made progress last, or 0. Those before it no longer count.
    pub(crate) progressed: u32,
    /// An attempt sent an idempotency key, or asked for that of the call.
    pub(crate) keyed: bool,
    /// After that, an attempt ended whose request may still run.
    pub(crate) in_doubt: bool,
    /// The delay that `retry_after` says about the last attempt.
    pub(crate) after: Option<Duration>,
    /// The last delay.
    pub(crate) delay: Option<Duration>,
    /// How long the call waited between attempts.
    pub(crate) waited: Duration,
    /// When the present wait began.
    pub(crate) waits_since: Option<Stamp>,
    /// The delays that count as time of the call, although it did not wait. Outer calls do not count them.
    pub(crate) passed_over: Duration,
    /// Until when the call waits at most for the pause of its budget, if it met one before the next attempt.
    pub(crate) paused_until: Option<Stamp>,
    /// The open commits of the present attempt, if one began in it.
    pub(super) open_commits: Option<Arc<OpenCommits>>,
    /// What became of the hedge, once it was wanted.
    pub(crate) hedge: Option<Hedge>,
    /// The failure that was set aside, and the delay that its server asked for.
    pub(crate) aside: Option<(Previous, Option<Duration>)>,
    /// The future of `cancel_waits` completed while two attempts could run.
    pub(crate) signalled: bool,
    /// All delays, for the log of the test scope.
    pub(crate) delays: Vec<Duration>,
    /// The verdicts of the attempts that failed, for the same.
    pub(crate) verdicts: Vec<Verdict>,
    /// The spans of the call, if a subscriber wants them.
    pub(crate) spans: Spans,
    /// The span of the attempt, while it is polled.
    pub(crate) entered: Option<Entered>,
}

impl Noted {
    /// Forgets what the attempt that ended leaves: the next one has no open commit, and may wait for a pause again.
    pub(crate) fn go_on(&mut self) {
        (self.open_commits, self.paused_until) = (None, None);
    }
}

impl Rest {
    /// The idempotency key, made when it is first asked for.
    pub(crate) fn key(&self) -> IdempotencyKey {
        self.noted().keyed = true;
        *self.key.get_or_init(IdempotencyKey::new)
    }

    pub(crate) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
