//! The part of a call that exists only after a failure inside it, or after a use of its attempt.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::key::IdempotencyKey;
use super::nesting::Remembered;
use super::open_commits::OpenCommits;
use crate::clock::Stamp;
#[cfg(feature = "tracing")]
use crate::trace::{Entered, Spans};
use crate::trial::InTrial;

/// What most calls never need. Its address identifies the call in this process.
#[derive(Debug, Default)]
pub(crate) struct Cold {
    key: OnceLock<IdempotencyKey>,
    // Rarely contended: only the task of the call and tasks that carry its attempt lock it.
    notes: Mutex<Noted>,
}

#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The failed retries inside.
    pub(crate) remembered: Remembered<Cold>,
    /// The last delay, for decorrelated jitter.
    pub(crate) delay: Option<Duration>,
    /// How long the call waited between attempts, if there is a listener.
    pub(crate) waited: Duration,
    /// The delays that count as time of the call, although it did not wait. The calls around do not count them.
    pub(crate) passed_over: Duration,
    /// When the present wait began.
    pub(crate) waits_since: Option<Stamp>,
    /// The open commits of the present attempt, if one began in it.
    pub(crate) open_commits: Option<Arc<OpenCommits>>,
    /// The call's part of its test scope.
    pub(crate) trial: Option<InTrial>,
    /// The spans of the call, if a subscriber wants them.
    #[cfg(feature = "tracing")]
    pub(crate) spans: Option<Spans>,
    /// The span of the attempt, while it is polled.
    #[cfg(feature = "tracing")]
    pub(crate) entered: Option<Entered>,
}

impl Cold {
    /// The idempotency key, made when it is first asked for.
    pub(crate) fn key(&self) -> IdempotencyKey {
        *self.key.get_or_init(IdempotencyKey::new)
    }

    pub(crate) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
