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
use std::sync::Arc;

use scoped_tls_hkt::ScopedKey;

use super::cold::Cold;
use super::notes::Notes;
use super::previous::Previous;
use super::refusal::Refusal;
use crate::budget::Charge;
use crate::clock::Stamp;
use crate::stopped::Outcome;

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
    /// The permit for a retry that has not begun: what its budget charged.
    pub(crate) permit: Cell<Option<Charge>>,
    /// A call inside was refused a retry in the current poll.
    pub(crate) refusal: Cell<Option<Refusal>>,
    pub(crate) notes: Cell<Notes>,
    /// Whether this attempt, or an attempt around it, is not the first of its call.
    pub(crate) again: Cell<bool>,
    /// Whether calls inside have no retries left, because their retries could not be counted.
    pub(crate) spent: Cell<bool>,
    pub(crate) role: Cell<Role>,
}

const _: () = assert!(size_of::<Frame>() <= 48, "every future holds one");

/// No limit (584 years).
pub(crate) const NEVER: u64 = u64::MAX;

/// What a frame stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A call.
    Call,
    /// The copy of an attempt in another task.
    Carried,
    /// A deadline or a listener without a call.
    Scope,
}

/// What a call does at present.
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
            refusal: Cell::new(None),
            notes: Cell::new(Notes::NONE),
            again: Cell::new(false),
            spent: Cell::new(false),
            role: Cell::new(Role::Call),
        }
    }

    /// Makes a frame for code without a call around it.
    pub(crate) fn outside() -> Self {
        let frame = Self::new(0, NEVER, NEVER);
        frame.role.set(Role::Scope);
        frame
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let mut copy = Self::outside();
        copy.started.set(self.started.get());
        copy.deadline.set(self.deadline.get());
        copy.spent.set(self.spent.get() || self.again.get());
        if self.is_attempt() {
            copy.role.set(Role::Carried);
            copy.phase.set(Phase::Attempt);
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

    /// Runs one poll of the code inside.
    #[inline]
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        FRAME.set(self, poll)
    }

    /// Whether the code inside runs in an attempt.
    pub(crate) fn is_attempt(&self) -> bool {
        self.phase.get() == Phase::Attempt
    }

    /// Whether the code inside runs for a call that makes attempts of its own.
    pub(crate) fn is_call(&self) -> bool {
        let runs = matches!(self.phase.get(), Phase::Attempt | Phase::Preparation);
        runs && self.role.get() == Role::Call
    }

    /// Whether this fact is noted.
    #[inline]
    pub(crate) fn has(&self, fact: Notes) -> bool {
        self.notes.get().has(fact)
    }

    /// Notes a fact, or removes it if it no longer `holds`.
    #[inline]
    pub(crate) fn note(&self, fact: Notes, holds: bool) {
        self.notes.set(self.notes.get().with(fact, holds));
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

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("phase", &self.phase.get())
            .field("number", &self.number.get())
            .finish_non_exhaustive()
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
