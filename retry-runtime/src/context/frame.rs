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
use std::mem;

use tokio::time::Instant;

use super::notes::{Notes, Refusal, Retries};
use super::place::{Kind, Place};
use super::{Attempt, Limit, Nested, Previous};
use crate::rng;

// The frame of this thread. Each part is one register that is saved, set and restored by itself:
// that takes the processor a fifth of the time of one large copy, and what a poll does not change is
// left alone.
thread_local! {
    pub(super) static PLACE: Cell<Place> = const { Cell::new(Place::OUTSIDE) };
    /// Names the call; 0 until somebody asks.
    pub(super) static ID: Cell<u64> = const { Cell::new(0) };
    /// The retries of inner calls in earlier attempts.
    pub(super) static BEFORE: Cell<Retries> = const { Cell::new(Retries::NONE) };
    /// What inner calls leave for the call of this attempt.
    pub(super) static NOTES: Cell<Notes> = const { Cell::new(Notes::NONE) };
    pub(super) static PREVIOUS: Cell<Option<Previous>> = const { Cell::new(None) };
    pub(super) static LIMITS: Cell<Limits> = const { Cell::new(Limits::NONE) };
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// What inner calls inherit: of whole calls, not of single attempts.
    pub(super) deadline: Limit,
    /// Of this attempt.
    pub(super) attempt: Limit,
}

impl Limits {
    pub(super) const NONE: Self = Self {
        deadline: Limit::NONE,
        attempt: Limit::NONE,
    };
}

/// What a call says of the attempt that it polls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    /// `None` where nothing ever cuts its attempts.
    pub(crate) limits: Option<Own>,
}

/// The limits of a call's own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    pub(crate) deadline: Limit,
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

    /// The same, and takes it out: the body went on after the call that was refused.
    pub(crate) fn get_over(&mut self) -> Option<Refusal> {
        let notes = self.notes;
        self.notes = notes.without_refusal();
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
    // Apart from `leave`, so that there is nothing of it where nothing cuts an attempt.
    let widen = seen.limits.and_then(narrowed);
    let mut leave = Leave {
        around: None,
        track,
    };
    if PLACE.get().is_outside() && matches!(leave.track.stage, Stage::New) {
        // The first poll of an outermost call, which is all there is on the happy path. Outside of
        // any attempt the frame is empty (a test holds that), and so is what the call has to set.
        leave.track.stage = Stage::First;
        debug_assert_eq!(seen.number, 1, "no later attempt has a new track");
        PLACE.set(Place::new(1, seen.kind, false, 1));
    } else {
        leave.descend(seen.number, seen.kind);
    }
    let polled = poll();
    // In line here; what a panic leaves to `drop` is not.
    leave.now();
    mem::forget(leave);
    drop(widen);
    polled
}

/// Reads the frame back and restores the one around, on return as on unwinding.
struct Leave<'t> {
    track: &'t mut Track,
    /// `None` where it is empty.
    around: Option<Around>,
}

/// What is put back after a poll; the limits apart.
#[derive(Clone, Copy)]
struct Around {
    place: Place,
    id: u64,
    before: Retries,
    notes: Notes,
    previous: Option<Previous>,
    /// Whether the retries of the call are noted here.
    counted: bool,
}

impl Drop for Leave<'_> {
    #[cold]
    fn drop(&mut self) {
        self.now();
    }
}

impl Leave<'_> {
    #[inline]
    fn now(&mut self) {
        if self.around.is_some() {
            self.ascend();
        } else if PLACE.replace(Place::OUTSIDE).is_written() {
            self.track.id = ID.replace(0);
            self.track.notes = NOTES.replace(Notes::NONE);
        }
    }
}

/// Sets the limits of an attempt that has some, and gives those around.
#[inline]
fn narrowed(own: Own) -> Option<Widen> {
    if own.deadline.is_none() && own.timeout.is_none() {
        return None;
    }
    let around = LIMITS.get();
    let deadline = around.deadline.or_nearer(own.deadline);
    let attempt = around.attempt.or_nearer(deadline).or_nearer(own.timeout);
    LIMITS.set(Limits { deadline, attempt });
    Some(Widen(around))
}

/// Puts the limits around back, on return as on unwinding.
struct Widen(Limits);

impl Drop for Widen {
    #[inline]
    fn drop(&mut self) {
        LIMITS.set(self.0);
    }
}

impl Leave<'_> {
    /// Puts the frame of an attempt in the place of the one around. Out of line: it exists once.
    #[inline(never)]
    fn descend(&mut self, number: u32, kind: Kind) {
        let track = &mut *self.track;
        let place = PLACE.get();
        let alone =
            Place::new(number, kind, false, 1).nested() == Nested::Multiply || place.level() == 0;
        let again = number != 1 || (place.again() && !alone);
        let level = if alone { 1 } else { place.level() + 1 };
        PLACE.set(Place::new(number, kind, again, level));
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
        let number = PLACE.get().number();
        let track = &mut *self.track;
        track.id = ID.replace(around.id);
        track.notes = NOTES.get();
        let notes = track.notes;
        let spent = number > 1 || notes != Notes::NONE;
        if around.counted && spent {
            let (level, own) = (around.place.level(), number.saturating_sub(1));
            NOTES.set(noted(around.notes, track, level, own));
            PLACE.set(around.place.written());
        } else {
            NOTES.set(around.notes);
            PLACE.set(around.place);
        }
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
#[inline]
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

/// Whether a call inherits a deadline here.
#[inline]
pub(crate) fn inherits() -> bool {
    !LIMITS.get().deadline.is_none()
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
        PLACE.set(PLACE.get().written());
    }
}

/// The attempt that is running, whose call has a name from now on.
#[inline]
pub(super) fn current() -> Option<Attempt> {
    let place = PLACE.get();
    if place.number() == 0 {
        return None;
    }
    if ID.get() == 0 {
        ID.set(rng::call_id());
        PLACE.set(place.written());
    }
    Some(Attempt {
        number: place.number(),
        attempts: allowed_at(
            place.level() - 1,
            BEFORE.get(),
            place.attempts(),
            place.nested(),
        ),
        previous: PREVIOUS.get(),
        limit: LIMITS.get().attempt.instant(),
        id: ID.get(),
    })
}

/// Runs one poll under a nearer deadline; everything else stays as it is around.
pub(crate) fn narrow<T>(deadline: Instant, poll: impl FnOnce() -> T) -> T {
    let nearer = Limit::at(deadline);
    let widen = Widen(LIMITS.get());
    let deadline = widen.0.deadline.or_nearer(nearer);
    let attempt = widen.0.attempt.or_nearer(nearer);
    LIMITS.set(Limits { deadline, attempt });
    poll()
}
