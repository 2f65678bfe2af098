//! What a call shares with the code inside its attempts, and the pointer by which that code finds it.
//!
//! The future of a call holds one [`Frame`]. While an attempt is polled, a scoped thread-local points
//! at it. Nothing else happens around a poll:
//!
//! ```text
//! poll of the outer call        the pointer: unset, or at what lies around
//!   lend ─ poll of its body     the pointer: at the outer call's frame
//!     poll of an inner call
//!       lend ─ poll of body     the pointer: at the inner call's frame
//!     the inner call decides    the pointer: at the outer call's frame, which it reads and writes
//! ```
//!
//! All other work is on cold paths. When an inner call begins, fails, suspends or ends, the pointer is at the frame of
//! the call around it.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use scoped_tls_hkt::ScopedKey;

use super::hedging::Hedging;
use super::key::IdempotencyKey;
use super::nesting::{CallsInside, Ordinal, Remembered};
use super::open_commits::OpenCommits;
use crate::budget::Charge;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::stopped::Outcome;
#[cfg(feature = "tracing")]
use crate::trace::{Entered, Spans};
use crate::trial::InTrial;

/// What `scoped_thread_local!` makes, but as a `const`. Other crates cannot see into a `static`, so each poll would
/// call through two pointers: 43 instructions more for a call that is ready at once.
const FRAME: ScopedKey<Frame> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Frame>> = const { Cell::new(None) });
        &POINTER
    },
};

/// What a call shares with the code inside its attempts: 48 bytes of every future.
///
/// Times are nanoseconds since `started`, or [`NEVER`] for no limit. Until the call has started, no time passes.
pub(crate) struct Frame {
    /// The call's first suspension or failure, or the first time that code inside asked for its limits.
    pub(crate) started: Cell<Option<Stamp>>,
    /// The nearest deadline: the call's own or an inherited one.
    pub(crate) deadline: Cell<u64>,
    /// When the current attempt is cut, by its own timeout or by a limit around it.
    pub(crate) until: Cell<u64>,
    /// What most calls never need.
    cold: OnceCell<Arc<Cold>>,
    /// Attempts begun, the current one included. It is 1 before the first attempt too, so that beginning that attempt
    /// takes one instruction less. A call that ends before sets it to 0.
    pub(crate) number: Cell<u32>,
    /// How many attempts the call may make here, or `u32::MAX` for no limit.
    pub(crate) attempts: Cell<u32>,
    pub(crate) phase: Cell<Phase>,
    /// How the last attempt failed.
    pub(crate) previous: Cell<Option<Previous>>,
    /// What the budget charged for the next retry, or for the retry that is running, which has spent it.
    pub(crate) permit: Cell<Option<Charge>>,
    /// A call inside was refused a retry in the current poll, or that poll is the first.
    pub(crate) refusal: Cell<Option<Refusal>>,
    pub(crate) notes: Cell<Notes>,
    /// What calls inside may do.
    pub(crate) inside: Cell<Leeway>,
    /// The bits of the functions that the present attempt or `before_retry` called.
    pub(crate) called: Cell<u8>,
}

const _: () = assert!(size_of::<Frame>() <= 48, "every future holds one");

/// No limit (584 years).
pub(crate) const NEVER: u64 = u64::MAX;

/// What calls inside an attempt may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leeway {
    /// Retry, and hedge.
    Anything,
    /// Retry. A call around may hedge, and hedges within hedges would multiply.
    Retry,
    /// Make one attempt, because their retries could not be counted.
    Nothing,
}

/// What a call does at present, or what a frame without a call stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing yet: no attempt has begun.
    New,
    /// It is between two attempts.
    Between,
    /// It makes an attempt.
    Attempt,
    /// It runs `before_retry`.
    Preparation,
    /// It ended with this outcome.
    Ended(Outcome),
    /// It ended and was reported.
    Closed,
    /// It succeeded at once. It has no cold part, and nothing is left to do when it is dropped.
    Bare,
    /// No call, but a copy of an attempt in another task.
    Carried,
    /// No call, but a deadline or a listener.
    Scope,
}

impl Frame {
    /// The frame of a call that may make `attempts` attempts, with its own limits.
    #[inline]
    pub(crate) fn new(attempts: u32, timeout: u64, deadline: u64) -> Self {
        Self {
            started: Cell::new(None),
            deadline: Cell::new(deadline),
            until: Cell::new(timeout),
            cold: OnceCell::new(),
            number: Cell::new(1),
            attempts: Cell::new(attempts),
            phase: Cell::new(Phase::New),
            previous: Cell::new(None),
            permit: Cell::new(None),
            refusal: Cell::new(Some(Refusal::NotPendingYet)),
            notes: Cell::new(Notes::NONE),
            inside: Cell::new(Leeway::Anything),
            called: Cell::new(0),
        }
    }

    /// Makes a frame for code without a call around it.
    pub(crate) fn outside() -> Self {
        let frame = Self::new(0, NEVER, NEVER);
        frame.phase.set(Phase::Scope);
        frame
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let mut copy = Self::outside();
        copy.started.set(self.started.get());
        copy.deadline.set(self.deadline.get());
        copy.inside.set(if self.has(Notes::AGAIN) {
            Leeway::Nothing
        } else {
            self.inside.get()
        });
        if self.is_attempt() {
            copy.phase.set(Phase::Carried);
            copy.until.set(self.until.get());
            copy.number.set(self.number.get());
            copy.attempts.set(self.attempts.get());
            copy.previous.set(self.previous.get());
            // The copy shares the key, so that the call has one key wherever the first use is.
            copy.cold = OnceCell::from(Arc::clone(self.cold()));
        }
        copy
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        Some(self.attempts.get()).filter(|attempts| *attempts != u32::MAX)
    }

    /// Returns how many attempts no longer count, because a later one made progress.
    #[inline]
    pub(crate) fn before_progress(&self) -> u32 {
        self.if_cold()
            .map_or(0, |cold| cold.progressed().saturating_sub(1))
    }

    /// Whether the present attempt has made progress, or the one that ended last.
    pub(crate) fn has_progressed(&self) -> bool {
        self.if_cold()
            .is_some_and(|cold| cold.progressed() == self.number.get())
    }

    /// Lets the attempts before this one no longer count, nor the failed retries inside them.
    pub(crate) fn make_progress(&self) {
        let number = self.number.get();
        let earlier = {
            let mut noted = self.cold().noted();
            // A task may still carry an earlier attempt.
            if number < noted.progressed {
                return;
            }
            noted.delay = None;
            noted.remembered = Remembered::default();
            std::mem::replace(&mut noted.progressed, number)
        };
        if self.has(Notes::FAILED_RETRIES) {
            // The call around heard of them. It must know before this call may be dropped.
            self.note(Notes::UNTOLD, true);
        }
        if self.attempts_allowed().is_some() {
            let more = number.saturating_sub(earlier.max(1));
            self.attempts.set(self.attempts.get().saturating_add(more));
        }
    }

    /// Sets how many attempts the call may make here, without those that no longer count.
    pub(crate) fn allow(&self, attempts: u32) {
        self.attempts
            .set(attempts.saturating_add(self.before_progress()));
    }

    /// The retry that a call inside was refused in the current poll.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let refusal = self.refusal.get();
        refusal.filter(|refusal| *refusal != Refusal::NotPendingYet)
    }

    /// Runs one poll of the code inside.
    #[inline]
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        FRAME.set(self, poll)
    }

    /// Whether the code inside runs in an attempt.
    pub(crate) fn is_attempt(&self) -> bool {
        matches!(self.phase.get(), Phase::Attempt | Phase::Carried)
    }

    /// Whether the code inside runs for a call that makes attempts of its own.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.phase.get(), Phase::Attempt | Phase::Preparation)
    }

    /// Whether this fact is noted, or one of several.
    #[inline]
    pub(crate) fn has(&self, fact: Notes) -> bool {
        self.notes.get().0 & fact.0 != 0
    }

    /// Notes a fact, or removes it if it no longer `holds`.
    #[inline]
    pub(crate) fn note(&self, fact: Notes, holds: bool) {
        let Notes(notes) = self.notes.get();
        self.notes.set(Notes(if holds {
            notes | fact.0
        } else {
            notes & !fact.0
        }));
    }

    /// What most calls never need, made when it is first needed.
    pub(crate) fn cold(&self) -> &Arc<Cold> {
        self.note(Notes::COLD, true);
        self.cold.get_or_init(Arc::default)
    }

    /// Drops what most calls never need.
    pub(crate) fn clear(&mut self) {
        self.cold.take();
    }

    /// The same, if it exists.
    pub(crate) fn if_cold(&self) -> Option<&Arc<Cold>> {
        self.cold.get()
    }
}

/// Whether there is a frame around.
#[inline]
pub(crate) fn is_within() -> bool {
    FRAME.is_set()
}

/// Shows the frame around to `f`, if there is one.
#[inline]
pub(crate) fn around<T>(f: impl FnOnce(&Frame) -> T) -> Option<T> {
    FRAME.is_set().then(|| FRAME.with(f))
}

/// A set of facts about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Notes(u16);

impl Notes {
    /// None of these facts: the call is in its first attempt, and has no cold part, no listener and no recorder. It ends
    /// inline.
    pub(crate) const NONE: Self = Self(0);
    /// It has a cold part.
    pub(crate) const COLD: Self = Self(1);
    /// There is a listener, or the hook `on_end`.
    pub(crate) const LISTENED: Self = Self(1 << 1);
    /// The call found a recorder when an attempt began.
    pub(crate) const RECORDED: Self = Self(1 << 2);
    /// One of the two above, which want to know how long the call takes.
    pub(crate) const HEARD: Self = Self(Self::LISTENED.0 | Self::RECORDED.0);
    /// It has failed retries, of its own or of calls inside it.
    pub(crate) const FAILED_RETRIES: Self = Self(1 << 3);
    /// The call around does not know of them all yet.
    pub(crate) const UNTOLD: Self = Self(1 << 4);
    /// During a poll: the deadline is that of a scope inside the attempt, so it is not the call's.
    pub(crate) const NARROWED: Self = Self(1 << 5);

    /// The last attempt returned an error, and neither was cut nor gave an `Ok` that means failure.
    pub(crate) const ERRED: Self = Self(1 << 6);

    /// The next wait is above the longest sleep.
    pub(crate) const LONG: Self = Self(1 << 7);

    /// This attempt, or an attempt around it, is not the first of its call.
    pub(crate) const AGAIN: Self = Self(1 << 8);

    /// The budget had a fault when the call began, so the call does not belong to the first wave of one.
    pub(crate) const BEGAN_IN_FAULT: Self = Self(1 << 9);
}

/// How the attempt before this one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Previous {
    /// It returned an error with this verdict, or an `Ok` that means failure.
    Failed(Verdict),
    /// It reached its timeout.
    TimedOut,
}

impl Previous {
    /// The verdict of that failure.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Failed(verdict) => verdict,
            Self::TimedOut => Verdict::Transient,
        }
    }

    /// What a retry after it costs. After a conflict it is free: another caller made progress, so the service does not
    /// fail.
    pub(crate) fn charge(self) -> Charge {
        match self {
            Self::Failed(Verdict::Conflict) => Charge::Free,
            Self::Failed(Verdict::Throttled) => Charge::Throttled,
            Self::Failed(_) => Charge::Failure,
            Self::TimedOut => Charge::Timeout,
        }
    }
}

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
    /// The attempt is one of two. If the other one still runs, this needs no retry.
    OneOfTwo,
    /// None. The call has never been pending, so calls that were made with it may not have begun.
    // Here, because each suspension removes it anyway.
    NotPendingYet,
}

impl Refusal {
    /// Returns the refusal that an outcome stands for, if any.
    pub(crate) fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Budget => Some(Self::Budget),
            Outcome::Deadline | Outcome::Paused => Some(Self::Deadline),
            Outcome::HintTooLong => Some(Self::HintTooLong),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// Returns the outcome of the call around, or `None` if the call does not end for that.
    pub(crate) fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Budget => Some(Outcome::Budget),
            Self::Deadline => Some(Outcome::Deadline),
            Self::HintTooLong => Some(Outcome::HintTooLong),
            Self::Cancelled => Some(Outcome::Cancelled),
            Self::OneOfTwo | Self::NotPendingYet => None,
        }
    }
}

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
    pub(crate) remembered: Remembered<Cold>,
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
    pub(crate) trial: Option<InTrial>,
    /// The hedge of the call, once it was wanted.
    pub(crate) hedging: Option<Box<Hedging>>,
    /// The spans of the call, if a subscriber wants them.
    #[cfg(feature = "tracing")]
    pub(crate) spans: Option<Spans>,
    /// The span of the attempt, while it is polled.
    #[cfg(feature = "tracing")]
    pub(crate) entered: Option<Entered>,
}

impl Cold {
    #[cold]
    #[inline(never)]
    fn progressed(&self) -> u32 {
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

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("phase", &self.phase.get())
            .field("number", &self.number.get())
            .finish_non_exhaustive()
    }
}
