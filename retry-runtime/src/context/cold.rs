//! The part of a frame that most calls never need.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::hedging::Hedging;
use super::key::IdempotencyKey;
use super::nesting::{CallsInside, Ordinal, RetriesInside};
use super::open_commits::OpenCommits;
use crate::clock::Stamp;
use crate::test_scope::CallInScope;
use crate::trace::{Entered, Spans};

/// What most calls never need. Its address identifies the call in this process.
#[derive(Debug, Default)]
pub(crate) struct Cold {
    key: OnceLock<IdempotencyKey>,
    // Rarely contended: only the task of the call and tasks that carry its attempt lock it.
    notes: Mutex<Noted>,
}

#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// Which of the calls of its function the call is, within the attempt around it.
    pub(crate) ordinal: Ordinal,
    /// The calls inside the present attempts.
    pub(crate) calls_inside: CallsInside,
    /// The failed retries inside.
    pub(crate) remembered: RetriesInside<Cold>,
    /// The number of the attempt that made progress last, or 0. Those before it no longer count.
    pub(crate) progressed: u32,
    /// The last delay, for decorrelated jitter.
    pub(crate) delay: Option<Duration>,
    /// How long the call waited between attempts, if there is a listener.
    pub(crate) waited: Duration,
    /// The delays that count as time of the call, although it did not wait. The calls around do not count them.
    pub(crate) passed_over: Duration,
    /// When the present wait began.
    pub(crate) waits_since: Option<Stamp>,
    /// Until when the call waits at most for the pause of its budget, if it met one before the next attempt.
    pub(crate) paused_until: Option<Stamp>,
    /// The open commits of the present attempt, if one began in it.
    pub(crate) open_commits: Option<Arc<OpenCommits>>,
    /// The call's part of its test scope.
    pub(crate) scope: Option<CallInScope>,
    /// The hedge of the call, once it was wanted.
    pub(crate) hedging: Option<Box<Hedging>>,
    /// The spans of the call, if a subscriber wants them.
    pub(crate) spans: Option<Spans>,
    /// The span of the attempt, while it is polled.
    pub(crate) entered: Option<Entered>,
}

impl Cold {
    #[cold]
    #[inline(never)]
    pub(super) fn progressed(&self) -> u32 {
        self.noted().progressed
    }

    /// The idempotency key, made when it is first asked for.
    pub(crate) fn key(&self) -> IdempotencyKey {
        *self.key.get_or_init(IdempotencyKey::new)
    }

    pub(crate) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
