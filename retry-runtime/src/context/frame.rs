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
use std::time::Duration;

use scoped_tls_hkt::ScopedKey;

use super::cold::{Cold, Noted};
use super::facts::{Leeway, NEVER, Notes, Phase, Previous, Refusal};
use super::hedging::{Hedging, OfAttempt, Which};
use super::nesting::Remembered;
use crate::budget::Charge;
use crate::clock::Stamp;
use crate::report::Hedge;
#[cfg(feature = "tracing")]
use crate::trace::SpanBeside;

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

/// Two attempts side by side.
impl Frame {
    /// Records that the call wanted to hedge and may not.
    pub(crate) fn refuse_hedge(&self) {
        self.cold().noted().hedging =
            Some(Box::new(Hedging::new(Hedge::Refused, self.inside.get())));
    }

    /// Makes the hedge the present attempt, beside the first one. It is cut at `until`.
    pub(crate) fn begin_hedge(&self, until: u64) {
        let mut hedging = Hedging::new(Hedge::Lost, self.inside.get());
        let hedge = OfAttempt {
            until,
            again: true,
            inside: Leeway::Nothing,
            called: 0,
            open_commits: None,
            #[cfg(feature = "tracing")]
            span: SpanBeside::default(),
        };
        let mut noted = self.cold().noted();
        hedging.other = Some(self.replace_present(&mut noted, hedge));
        hedging.present_is_hedge = true;
        noted.hedging = Some(Box::new(hedging));
        drop(noted);
        self.number.set(2);
    }

    /// Makes one of the attempts that run the present one. `both` is whether the other runs too.
    pub(crate) fn turn_to(&self, which: Which, both: bool) {
        self.phase.set(Phase::Attempt);
        let Some(cold) = self.if_cold() else { return };
        let mut noted = cold.noted();
        let Some(mut hedging) = noted.hedging.take() else {
            return;
        };
        if hedging.present_is_hedge != (which == Which::Hedge) {
            if let Some(other) = hedging.other.take() {
                let earlier = self.replace_present(&mut noted, other);
                hedging.other = Some(earlier).filter(|_| both);
                hedging.present_is_hedge = which == Which::Hedge;
            }
        }
        noted.hedging = Some(hedging);
    }

    fn replace_present(&self, noted: &mut Noted, with: OfAttempt) -> OfAttempt {
        OfAttempt {
            until: self.until.replace(with.until),
            again: {
                let again = self.has(Notes::AGAIN);
                self.note(Notes::AGAIN, with.again);
                again
            },
            inside: self.inside.replace(with.inside),
            called: self.called.replace(with.called),
            open_commits: std::mem::replace(&mut noted.open_commits, with.open_commits),
            #[cfg(feature = "tracing")]
            span: with.span.replace(noted.spans.as_mut()),
        }
    }

    /// Runs one poll of an attempt, in which its number is that of the attempt. Outside of a poll, it is the number of the
    /// attempts that began.
    pub(crate) fn lend_to<T>(&self, which: Which, poll: impl FnOnce() -> T) -> T {
        struct Restored<'f>(&'f Frame, u32);
        impl Drop for Restored<'_> {
            fn drop(&mut self) {
                self.0.number.set(self.1);
            }
        }
        let begun = Restored(self, self.number.get());
        if begun.1 == 2 && which == Which::First {
            self.number.set(1);
        }
        self.lend(poll)
    }

    /// Records that the present attempt, one of two, ends. The refusal of its poll counts only if it is the last.
    pub(crate) fn one_of_two_ends(&self) {
        let refused = self.refusal();
        if self
            .with_hedging(|hedging| hedging.refused = refused)
            .is_some()
        {
            self.refusal.set(Some(Refusal::OneOfTwo));
        }
    }

    /// Whether an attempt runs beside the present one, or beside the one that ended last.
    pub(crate) fn is_beside(&self) -> bool {
        self.with_hedging(|hedging| hedging.other.is_some()) == Some(true)
    }

    /// Makes the other attempt the present one if it runs and a commit is open in it.
    pub(crate) fn turn_to_open_commit(&self) {
        let other = self.with_hedging(|hedging| {
            let commits = hedging.other.as_ref()?.open_commits.as_ref()?;
            let other = if hedging.present_is_hedge {
                Which::First
            } else {
                Which::Hedge
            };
            commits.is_present().then_some(other)
        });
        if let Some(other) = other.flatten() {
            self.turn_to(other, true);
        }
    }

    /// Sets the failure of the present attempt aside, because the other attempt may succeed.
    pub(crate) fn set_aside(&self, hint: Option<Duration>) {
        let previous = self.previous.get();
        self.refusal.set(None);
        self.with_hedging(|hedging| hedging.aside = previous.map(|previous| (previous, hint)));
    }

    /// Takes the failure that was set aside into that of the present attempt: the dearer one is the last one, and the larger
    /// hint counts. What follows is an ordinary attempt.
    pub(crate) fn join_aside(&self, hint: Option<Duration>) -> Option<Duration> {
        let (aside, refused) = self
            .with_hedging(|hedging| {
                hedging.present_is_hedge = false;
                self.inside.set(hedging.inside);
                (hedging.aside.take(), hedging.refused.take())
            })
            .unwrap_or_default();
        self.refusal.set(refused);
        let Some((previous, other_hint)) = aside else {
            return hint;
        };
        let last = self.previous.get();
        let dearer = last.filter(|last| last.charge() >= previous.charge());
        self.previous.set(dearer.or(Some(previous)));
        hint.max(other_hint)
    }

    /// Loses the attempt beside the present one, because the call ends. Returns whether there was one.
    pub(crate) fn lose_other(&self) -> bool {
        if self.refusal.get() == Some(Refusal::OneOfTwo) {
            let refused = self.with_hedging(|hedging| hedging.refused);
            self.refusal.set(refused.flatten());
        }
        // Dropped without the lock, because its span calls a subscriber.
        let lost = self.with_hedging(|hedging| hedging.other.take());
        lost.flatten().is_some()
    }

    /// What became of the hedge, if the call wanted one. `succeeded` is whether the call did.
    pub(crate) fn hedge(&self, succeeded: bool) -> Option<Hedge> {
        self.with_hedging(|hedging| match hedging.result {
            Hedge::Lost if succeeded && hedging.present_is_hedge => Hedge::Won,
            result => result,
        })
    }

    /// Whether the present attempt is the hedge.
    pub(crate) fn is_hedge(&self) -> bool {
        let is_hedge = |hedging: &mut Hedging| hedging.present_is_hedge;
        self.with_hedging(is_hedge) == Some(true)
    }

    fn with_hedging<T>(&self, f: impl FnOnce(&mut Hedging) -> T) -> Option<T> {
        self.if_cold()?.noted().hedging.as_deref_mut().map(f)
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

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("phase", &self.phase.get())
            .field("number", &self.number.get())
            .finish_non_exhaustive()
    }
}
