//! What a call has once something failed inside it, or somebody asked for its attempt.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::key::IdempotencyKey;
use super::nesting::Remembered;
use crate::clock::Stamp;
#[cfg(feature = "tracing")]
use crate::trace::{Entered, Spans};
use crate::trial::InTrial;

/// What most calls never need. Its address names the call in this process.
#[derive(Debug, Default)]
pub(crate) struct Cold {
    key: OnceLock<IdempotencyKey>,
    // Hardly ever contended: the task of the call comes here, and those that carry its attempt.
    notes: Mutex<Noted>,
}

#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The retries that were made in vain inside.
    pub(crate) remembered: Remembered<Cold>,
    /// The last delay, which decorrelated jitter asks for.
    pub(crate) delay: Option<Duration>,
    /// How long the call waited between attempts, where somebody listens.
    pub(crate) waited: Duration,
    /// When the wait began that is not over.
    pub(crate) waits_since: Option<Stamp>,
    /// How many commits began in its attempts and have not ended.
    pub(crate) in_doubt: u32,
    /// What the call has of its test scope.
    pub(crate) trial: Option<InTrial>,
    /// The spans of the call, where somebody wants them.
    #[cfg(feature = "tracing")]
    pub(crate) spans: Option<Spans>,
    /// That of the attempt, while it is polled.
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
