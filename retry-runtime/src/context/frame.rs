//! The frame of the attempt that is being polled: one a thread, swapped around each poll.
//!
//! ```text
//! poll of the outer call        frame: nothing, or what lies around it
//!   enter ─ poll of its body    frame: the outer attempt
//!     poll of an inner call
//!       enter ─ poll of body    frame: the inner attempt
//!       leave                   what the inner one spent is noted in the frame around it
//!     the inner call decides    frame: the outer attempt; a refusal is noted there
//!   leave                       the outer call takes its notes out of the frame
//! ```
//!
//! So an inner call reaches the one around it without a pointer, a lock or an allocation: it writes
//! into the frame, and its owner reads the frame back when the poll is over.
//!
//! # Counting the retries of nested calls
//!
//! For every chain of calls the rule is: a function's own retries, summed over all attempts of the
//! calls around it, are no more than its policy allows. Calls that one attempt makes, one after the
//! other or at the same time (`join!`), are different chains and do not take from each other; what an
//! attempt spent at a level is what the call that spent most did. So the number of retries of a call
//! is fixed when its attempt begins, and never depends on how its siblings interleave.

use std::cell::Cell;

use tokio::time::Instant;

use super::notes::{Notes, Refusal, Retries};
use super::{Attempt, Limit, Nested, Previous};
use crate::rng;

// The frame of this thread. Each part is one register that is saved, set and restored by itself:
// that takes the processor a fifth of the time of one large copy, and what a poll does not change is
// left alone.
thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::OUTSIDE) };
    /// What the policy of the call allows; see [`allowed_at`].
    static ATTEMPTS: Cell<u32> = const { Cell::new(0) };
    /// Names the call; 0 until somebody asks.
    static ID: Cell<u64> = const { Cell::new(0) };
    /// The retries of inner calls in earlier attempts.
    static BEFORE: Cell<Retries> = const { Cell::new(Retries::NONE) };
    /// What inner calls leave for the call of this attempt.
    static NOTES: Cell<Notes> = const { Cell::new(Notes::NONE) };
    static PREVIOUS: Cell<Option<Previous>> = const { Cell::new(None) };
    static LIMITS: Cell<Limits> = const { Cell::new(Limits::NONE) };
}

/// Which attempt it is, and what lies around it, in one register.
///
/// ```text
/// bit 63     35 34      33 32      32 31       0
///     | level  |  nested  |  again   |  number  |
/// ```
#[derive(Debug, Clone, Copy)]
struct Place(u64);

impl Place {
    const OUTSIDE: Self = Self(0);

    #[inline]
    fn new(number: u32, again: bool, nested: Nested, level: u32) -> Self {
        Self(
            u64::from(number)
                | (u64::from(again) << 32)
                | ((nested as u64) << 33)
                | (u64::from(level) << 35),
        )
    }

    /// Of the attempt; 0 outside of any.
    #[inline]
    fn number(self) -> u32 {
        u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(u32::MAX)
    }

    /// Whether any attempt around, this one included, is not the first of its call.
    #[inline]
    fn again(self) -> bool {
        self.0 & (1 << 32) != 0
    }

    fn nested(self) -> Nested {
        match (self.0 >> 33) & 3 {
            0 => Nested::Add,
            1 => Nested::Multiply,
            _ => Nested::Outermost,
        }
    }

    /// How many attempts lie around, this one included.
    #[inline]
    fn level(self) -> u32 {
        (self.0 >> 35) as u32
    }
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    /// What inner calls inherit: of whole calls, not of single attempts.
    deadline: Limit,
    /// Of this attempt.
    attempt: Limit,
}

impl Limits {
    const NONE: Self = Self {
        deadline: Limit::NONE,
        attempt: Limit::NONE,
    };
}

/// What a call says of the attempt that it polls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) number: u32,
    /// `u32::MAX` for no limit.
    pub(crate) attempts: u32,
    pub(crate) nested: Nested,
    /// The call's own deadline.
    pub(crate) deadline: Limit,
    /// The attempt's own timeout.
    pub(crate) timeout: Limit,
}

/// What a call keeps of its attempts from one poll to the next.
///
/// Packed, because every annotated function has one in its future.
#[derive(Debug, Clone, Copy, Default)]
#[repr(Rust, packed)]
pub(crate) struct Track {
    id: u64,
    /// The retries of inner calls in earlier attempts of this call.
    before: Retries,
    /// What inner calls left in this attempt.
    notes: Notes,
    stage: Stage,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Not polled yet.
    #[default]
    New,
    First,
    After(Previous),
}

impl Track {
    /// Why the attempt that just failed must not be followed by another, if an inner call says so.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let notes = self.notes;
        notes.refusal()
    }

    /// How the attempt before this one failed.
    #[inline]
    pub(crate) fn previous(&self) -> Option<Previous> {
        match self.stage {
            Stage::After(previous) => Some(previous),
            Stage::New | Stage::First => None,
        }
    }

    /// Turns to the next attempt.
    pub(crate) fn turn(&mut self, previous: Previous) {
        let (before, notes) = (self.before, self.notes);
        self.before = before.plus(notes.retries());
        self.notes = Notes::NONE;
        self.stage = Stage::After(previous);
    }
}

/// Runs one poll of an attempt so that the code in it sees the attempt.
#[inline]
pub(crate) fn enter<T>(track: &mut Track, seen: Seen, poll: impl FnOnce() -> T) -> T {
    let mut leave = Leave {
        limits: narrowed(&seen),
        around: None,
        number: seen.number,
        track,
    };
    if PLACE.get().level() == 0 && matches!(leave.track.stage, Stage::New) {
        // The first poll of an outermost call, which is all there is on the happy path. Outside of
        // any attempt the frame is empty (a test holds that), and so is what the call has to set.
        leave.track.stage = Stage::First;
        PLACE.set(Place::new(seen.number, false, seen.nested, 1));
        ATTEMPTS.set(seen.attempts);
    } else {
        leave.descend(&seen);
    }
    poll()
}

/// Reads the frame back and restores the one around, on return as on unwinding.
struct Leave<'t> {
    track: &'t mut Track,
    number: u32,
    limits: Option<Limits>,
    /// `None` where it is empty.
    around: Option<Around>,
}

/// What is put back after a poll; the limits apart.
#[derive(Clone, Copy)]
struct Around {
    place: Place,
    attempts: u32,
    id: u64,
    before: Retries,
    notes: Notes,
    previous: Option<Previous>,
    /// Whether the retries of the call are noted here.
    counted: bool,
}

impl Drop for Leave<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.around.is_some() {
            self.ascend();
        } else {
            PLACE.set(Place::OUTSIDE);
            if ID.get() != 0 || NOTES.get() != Notes::NONE {
                self.track.id = ID.replace(0);
                self.track.notes = NOTES.replace(Notes::NONE);
            }
        }
        if let Some(limits) = self.limits {
            LIMITS.set(limits);
        }
    }
}

/// Sets the limits of an attempt that has some, and gives those around.
#[inline]
fn narrowed(seen: &Seen) -> Option<Limits> {
    if seen.deadline.is_none() && seen.timeout.is_none() {
        return None;
    }
    let around = LIMITS.get();
    let deadline = around.deadline.or_nearer(seen.deadline);
    let attempt = around.attempt.or_nearer(deadline).or_nearer(seen.timeout);
    LIMITS.set(Limits { deadline, attempt });
    Some(around)
}

impl Leave<'_> {
    /// Puts the frame of an attempt in the place of the one around. Out of line: it exists once.
    #[inline(never)]
    fn descend(&mut self, seen: &Seen) {
        let track = &mut *self.track;
        let place = PLACE.get();
        let alone = seen.nested == Nested::Multiply || place.level() == 0;
        let again = seen.number > 1 || (place.again() && !alone);
        let level = if alone { 1 } else { place.level() + 1 };
        PLACE.set(Place::new(seen.number, again, seen.nested, level));
        let before = BEFORE.get();
        BEFORE.set(if alone {
            track.before
        } else {
            before.plus(track.before)
        });
        let mut notes = NOTES.replace(track.notes);
        if track.stage == Stage::New {
            track.stage = Stage::First;
            // The body around has gone on to another call after one that was refused.
            notes = notes.without_refusal();
        }
        self.around = Some(Around {
            place,
            attempts: ATTEMPTS.replace(seen.attempts),
            id: ID.replace(track.id),
            before,
            notes,
            previous: PREVIOUS.replace(track.previous()),
            counted: !alone,
        });
    }

    /// Takes out of the frame of an attempt what belongs to its call, and puts back the one around.
    #[inline(never)]
    fn ascend(&mut self) {
        let Some(around) = self.around else { return };
        let track = &mut *self.track;
        track.id = ID.replace(around.id);
        track.notes = NOTES.get();
        let notes = track.notes;
        let spent = self.number > 1 || notes != Notes::NONE;
        NOTES.set(if around.counted && spent {
            noted(around.notes, track, around.place.level(), self.number - 1)
        } else {
            around.notes
        });
        PLACE.set(around.place);
        ATTEMPTS.set(around.attempts);
        BEFORE.set(around.before);
        PREVIOUS.set(around.previous);
    }
}

/// Adds to the notes for the call around what this call, with so many attempts around it, and those
/// within it have spent.
fn noted(notes: Notes, track: &Track, level: u32, own: u32) -> Notes {
    let (before, own_notes) = (track.before, track.notes);
    let within = before.plus(own_notes.retries());
    notes.with_retries(within.plus(Retries::at(level - 1, own)))
}

/// How many attempts a call may make here, of the `attempts` that its policy allows (`u32::MAX` for
/// no limit).
pub(crate) fn allowed(attempts: u32, nested: Nested) -> u32 {
    allowed_at(PLACE.get().level(), BEFORE.get(), attempts, nested)
}

/// The same, for a call with so many attempts around it, given what was spent before.
fn allowed_at(level: u32, before: Retries, attempts: u32, nested: Nested) -> u32 {
    match nested {
        Nested::Add | Nested::Outermost if level == 0 => attempts,
        Nested::Multiply => attempts,
        Nested::Outermost => 1,
        Nested::Add => match before.get(level - 1) {
            // Every one of them may have been spent where nobody counts; see `detached`.
            Retries::ALL => 1,
            _ if attempts == u32::MAX => attempts,
            spent => attempts.saturating_sub(u32::from(spent)).max(1),
        },
    }
}

/// The deadline that a call inherits here. What has not begun to run, begins now.
pub(crate) fn deadline() -> Option<Instant> {
    LIMITS.get().deadline.instant()
}

/// The nearest limit of the code that runs here.
pub(crate) fn limit() -> Option<Instant> {
    LIMITS.get().attempt.instant()
}

/// Tells the call around that a call within it was refused more attempts, so that it makes none
/// either.
#[cold]
pub(crate) fn refuse(refusal: Refusal) {
    if PLACE.get().level() > 0 {
        NOTES.set(NOTES.get().with_refusal(refusal));
    }
}

/// The attempt that is running, whose call has a name from now on.
pub(super) fn current() -> Option<Attempt> {
    let place = PLACE.get();
    if place.number() == 0 {
        return None;
    }
    if ID.get() == 0 {
        ID.set(rng::call_id());
    }
    Some(Attempt {
        number: place.number(),
        attempts: allowed_at(
            place.level() - 1,
            BEFORE.get(),
            ATTEMPTS.get(),
            place.nested(),
        ),
        previous: PREVIOUS.get(),
        limit: LIMITS.get().attempt.instant(),
        id: ID.get(),
    })
}

/// Runs one poll under a nearer deadline; everything else stays as it is around.
pub(crate) fn narrow<T>(deadline: Instant, poll: impl FnOnce() -> T) -> T {
    struct Widen(Limits);
    impl Drop for Widen {
        fn drop(&mut self) {
            LIMITS.set(self.0);
        }
    }
    let nearer = Limit::at(deadline);
    let widen = Widen(LIMITS.get());
    let deadline = widen.0.deadline.or_nearer(nearer);
    let attempt = widen.0.attempt.or_nearer(nearer);
    LIMITS.set(Limits { deadline, attempt });
    poll()
}

/// A whole frame, to keep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    place: Place,
    attempts: u32,
    id: u64,
    before: Retries,
    notes: Notes,
    previous: Option<Previous>,
    limits: Limits,
}

impl Frame {
    /// A copy for a task of its own, which cannot write back what it spends.
    ///
    /// So in an attempt that is not the first, of whatever call around, no retries are left to it:
    /// those of the first attempt may all have been spent, and the sum must not exceed what the
    /// policy allows.
    pub(super) fn detached() -> Self {
        // The key is the call's own from the first, wherever it is asked for first.
        let _named = current();
        let frame = Self::load();
        let begun = |limit: Limit| limit.instant().map_or(Limit::NONE, Limit::at);
        let limits = Limits {
            deadline: begun(frame.limits.deadline),
            attempt: begun(frame.limits.attempt),
        };
        let before = if frame.place.again() {
            Retries::all()
        } else {
            frame.before
        };
        Self {
            before,
            limits,
            ..frame
        }
    }

    /// Runs one poll in this frame, and reads it back.
    pub(super) fn run<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        struct Back<'f> {
            frame: &'f mut Frame,
            around: Frame,
        }
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                *self.frame = Frame::load();
                self.around.store();
            }
        }
        let back = Back {
            around: Self::load(),
            frame: self,
        };
        back.frame.store();
        poll()
    }

    fn load() -> Self {
        Self {
            place: PLACE.get(),
            attempts: ATTEMPTS.get(),
            id: ID.get(),
            before: BEFORE.get(),
            notes: NOTES.get(),
            previous: PREVIOUS.get(),
            limits: LIMITS.get(),
        }
    }

    fn store(&self) {
        PLACE.set(self.place);
        ATTEMPTS.set(self.attempts);
        ID.set(self.id);
        BEFORE.set(self.before);
        NOTES.set(self.notes);
        PREVIOUS.set(self.previous);
        LIMITS.set(self.limits);
    }
}

#[cfg(test)]
pub(super) fn is_outside() -> bool {
    let frame = Frame::load();
    frame.place.number() == 0
        && frame.place.level() == 0
        && (frame.id, frame.before, frame.notes) == (0, Retries::NONE, Notes::NONE)
        && frame.previous.is_none()
        && frame.limits.attempt.is_none()
        && frame.limits.deadline.is_none()
}
