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
//!
//! No other file writes a frame. Who wants a change asks for one of these transitions, which keep its facts together:
//!
//! ```text
//! New ─ begin ──────────> Attempt ─ end_attempt ─────> Between     also: suspend, limit, fail, progress, refuse
//! New ─ end_before_first  Attempt ─ succeed_at_once ─> SucceededAtOnce
//! Between ─ begin_anew, begin ─> Attempt                           between: take_permit, go_on, take_unspent
//! Between ─ prepare ─> Preparation ─ begin_anew, begin ─> Attempt
//! any ─ end ─> Ended ─ close ─> Closed
//! Attempt ─ begin_hedge, turn_to, end_one_of_two ─> Attempt        in between: set_aside, join_aside, lose_other
//! ```

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use scoped_tls_hkt::ScopedKey;

use super::cold::{Cold, Noted};
use super::facts::{Leeway, NEVER, Notes, Phase, Previous, Refusal};
use super::hedging::{Hedging, OfAttempt, Which};
use super::nesting::RetriesInside;
use crate::budget::Charge;
use crate::clock::Stamp;
use crate::fit::{self, DelayRange};
use crate::report::Hedge;
use crate::stopped::Outcome;
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
    pub(crate) started: Fact<Option<Stamp>>,
    /// The nearest deadline: the call's own or an inherited one.
    pub(crate) deadline: Fact<u64>,
    /// When the current attempt is cut, by its own timeout or by a limit around it.
    pub(crate) until: Fact<u64>,
    /// What most calls never need.
    cold: OnceCell<Arc<Cold>>,
    /// Attempts begun, the current one included. It is 1 before the first attempt too, so that beginning that attempt
    /// takes one instruction less. A call that ends before sets it to 0.
    pub(crate) number: Fact<u32>,
    /// How many attempts the call may make here in a row without progress, or `u32::MAX` for no limit.
    attempts: Cell<u32>,
    pub(crate) phase: Fact<Phase>,
    /// How the last attempt failed.
    pub(crate) previous: Fact<Option<Previous>>,
    /// What the budget charged for the next retry, or for the retry that is running, which has spent it.
    pub(crate) permit: Fact<Option<Charge>>,
    /// A call inside was refused a retry in the current poll, or that poll is the first.
    refusal: Cell<Option<Refusal>>,
    notes: Cell<Notes>,
    /// What calls inside may do.
    pub(crate) inside: Fact<Leeway>,
    /// The bits of the functions that the present attempt or `before_retry` called.
    called: Cell<u8>,
    /// This attempt, or an attempt around it, is not the first of its call.
    again: Cell<bool>,
}

/// What everybody reads and only this file writes.
pub(crate) struct Fact<T>(Cell<T>);

impl<T: Copy> Fact<T> {
    #[inline]
    pub(crate) fn get(&self) -> T {
        self.0.get()
    }
}

const _: () = assert!(size_of::<Frame>() <= 48, "every future holds one");

impl Frame {
    /// The frame of a call that may make `attempts` attempts, with its own limits.
    #[inline]
    pub(crate) fn new(attempts: u32, timeout: u64, deadline: u64) -> Self {
        Self {
            started: Fact(Cell::new(None)),
            deadline: Fact(Cell::new(deadline)),
            until: Fact(Cell::new(timeout)),
            cold: OnceCell::new(),
            number: Fact(Cell::new(1)),
            attempts: Cell::new(attempts),
            phase: Fact(Cell::new(Phase::New)),
            previous: Fact(Cell::new(None)),
            permit: Fact(Cell::new(None)),
            refusal: Cell::new(Some(Refusal::NotPendingYet)),
            notes: Cell::new(Notes::NONE),
            inside: Fact(Cell::new(Leeway::Anything)),
            called: Cell::new(0),
            again: Cell::new(false),
        }
    }

    /// Makes a frame for code without a call around it.
    pub(crate) fn outside() -> Self {
        let frame = Self::new(0, NEVER, NEVER);
        frame.phase.0.set(Phase::Scope);
        frame
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let mut copy = Self::outside();
        copy.started.0.set(self.started.get());
        copy.deadline.0.set(self.deadline.get());
        copy.inside.0.set(if self.again.get() {
            Leeway::Nothing
        } else {
            self.inside.get()
        });
        if self.is_attempt() {
            copy.phase.0.set(Phase::Carried);
            copy.until.0.set(self.until.get());
            copy.number.0.set(self.number.get());
            copy.attempts.set(self.attempts.get());
            copy.previous.0.set(self.previous.get());
            // The copy shares the key, so that the call has one key wherever the first use is.
            copy.cold = OnceCell::from(Arc::clone(self.cold()));
        }
        copy
    }

    /// Returns the number of the attempt since the last one that made progress, which is the first.
    #[inline]
    pub(crate) fn attempts_in_a_row(&self) -> u32 {
        self.number.get() - self.before_progress()
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        match self.attempts.get() {
            u32::MAX => None,
            attempts => Some(attempts.saturating_add(self.before_progress())),
        }
    }

    /// Returns how many attempts no longer count, because a later one made progress.
    #[inline]
    fn before_progress(&self) -> u32 {
        self.if_cold()
            .map_or(0, |cold| cold.progressed().saturating_sub(1))
    }

    /// Whether the present attempt has made progress, or the one that ended last.
    pub(crate) fn has_progressed(&self) -> bool {
        self.if_cold()
            .is_some_and(|cold| cold.progressed() == self.number.get())
    }

    /// The retry that a call inside was refused in the current poll.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        match self.refusal.get() {
            Some(Refusal::NotPendingYet) => None,
            refusal => refusal,
        }
    }

    /// Whether the call has never been pending, so calls that were made with it may not have begun.
    pub(crate) fn was_never_pending(&self) -> bool {
        self.refusal.get() == Some(Refusal::NotPendingYet)
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

    /// Whether anything is noted.
    #[inline]
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.get().0 != 0
    }

    /// Notes a fact, or removes it if it no longer `holds`.
    #[inline]
    fn note(&self, fact: Notes, holds: bool) {
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

/// What a call does, in the order in which it does it.
impl Frame {
    /// Forgets what belongs to the attempt before, because another one will begin.
    pub(crate) fn begin_anew(&self) {
        self.again.set(true);
        self.called.set(0);
        self.until.0.set(NEVER);
    }

    /// Takes over what calls inside may do from the frame around. `counts` is whether its attempts count here.
    pub(crate) fn begin_within(&self, outer: &Self, counts: bool) {
        self.inside.0.set(outer.inside.get());
        if self.phase.get() == Phase::New && !outer.was_never_pending() {
            // The body around makes a new call, so it went on after the refusal.
            outer.refusal.set(None);
        }
        if counts && outer.again.get() {
            self.again.set(true);
        }
    }

    /// Begins an attempt: now it counts. With limits, it has a `timeout`, and does not begin after the deadline. Returns
    /// whether it begins.
    #[inline]
    pub(crate) fn begin(&self, timeout: Option<u64>) -> bool {
        if let (Some(timeout), Some(_)) = (timeout, self.started.get()) {
            let elapsed = self.elapsed(Stamp::now());
            if self.deadline.get() <= elapsed {
                return false;
            }
            let cut = elapsed.saturating_add(timeout);
            self.until.0.set(cut.min(self.until.get()));
        }
        if self.phase.0.replace(Phase::Attempt) != Phase::New {
            self.number.0.set(self.number.get().saturating_add(1));
            self.note(Notes::FAILED_RETRIES, true);
        }
        true
    }

    /// Records that the code inside is pending. Returns whether anything is noted.
    #[inline]
    pub(crate) fn suspend(&self) -> bool {
        // A refusal only counts if the attempt fails in the same poll.
        self.refusal.set(None);
        self.has_notes()
    }

    /// Starts the time of the call, unless it has started.
    #[inline]
    pub(crate) fn start(&self, now: Stamp) {
        if self.started.get().is_none() {
            self.started.0.set(Some(now));
        }
    }

    /// Counts the timeout of an attempt from `now`. Returns the time of the call, and when this timeout cuts.
    ///
    /// A timer ignores the timeout of an outer attempt, which cuts there and drops this call.
    #[inline]
    pub(crate) fn limit(&self, timeout: u64, now: Stamp) -> (u64, u64) {
        self.start(now);
        let elapsed = self.elapsed(now);
        let cut = elapsed.saturating_add(timeout);
        self.until.0.set(cut);
        around(|outer| self.inherit(outer, now));
        (elapsed, cut)
    }

    /// Counts a delay that is not waited for as time of the call.
    pub(crate) fn pass_over(&self, delay: Duration) {
        let started = self.started.get().unwrap_or_else(Stamp::now);
        self.started.0.set(Some(started.minus(delay)));
        let mut noted = self.cold().noted();
        noted.waited = noted.waited.saturating_add(delay);
        noted.passed_over = noted.passed_over.saturating_add(delay);
    }

    /// Lets the attempts before this one no longer count, nor the failed retries inside them.
    pub(crate) fn progress(&self) {
        let number = self.number.get();
        let mut noted = self.cold().noted();
        // A task may still carry an earlier attempt.
        if number < noted.progressed {
            return;
        }
        noted.delay = None;
        noted.remembered = RetriesInside::default();
        noted.progressed = number;
        if self.has(Notes::FAILED_RETRIES) {
            // The call around heard of them. It must know before this call may be dropped.
            self.note(Notes::UNTOLD, true);
        }
    }

    /// Sets how many attempts the call may make here in a row without progress.
    pub(crate) fn allow(&self, attempts: u32) {
        self.attempts.set(attempts);
    }

    /// Lets the call make at most this many attempts.
    pub(crate) fn allow_at_most(&self, attempts: u32) {
        self.attempts.set(attempts.min(self.attempts.get()));
    }

    /// Records how an attempt failed. `erred` is whether its body returned an error.
    pub(crate) fn fail(&self, how: Previous, erred: bool) {
        self.previous.0.set(Some(how));
        self.note(Notes::ERRED, erred);
    }

    /// Ends the attempt. Its permit is spent.
    pub(crate) fn end_attempt(&self) {
        self.phase.0.set(Phase::Between);
        self.permit.0.set(None);
    }

    /// Records that a retry was refused to a call inside, or forgets that.
    pub(crate) fn refuse(&self, refusal: Option<Refusal>) {
        self.refusal.set(refusal);
    }

    /// Takes a permit for the next retry. Returns whether there is one.
    pub(crate) fn take_permit(&self, permit: Option<Charge>) -> bool {
        self.permit.0.set(permit);
        permit.is_some()
    }

    /// Takes the permit of a retry that never began.
    pub(crate) fn take_unspent(&self) -> Option<Charge> {
        let spent = self.phase.get() == Phase::Attempt;
        self.permit.0.take().filter(|_| !spent)
    }

    /// Records that another attempt will follow. It has no open commit, although this one may have committed, and may wait
    /// for a pause again.
    pub(crate) fn go_on(&self) {
        if let Some(cold) = self.if_cold() {
            let mut noted = cold.noted();
            (noted.open_commits, noted.paused_until) = (None, None);
        }
    }

    /// Begins `before_retry`. Returns whether this was its first poll.
    pub(crate) fn prepare(&self) -> bool {
        let first = self.phase.get() == Phase::Between;
        if first {
            self.phase.0.set(Phase::Preparation);
            self.called.set(0);
            self.until.0.set(NEVER);
            around(|outer| self.inherit(outer, Stamp::now()));
        }
        first
    }

    /// Counts no attempt if the call ends before its first one. Returns whether it does.
    pub(crate) fn end_before_first(&self) -> bool {
        let first = self.phase.get() == Phase::New;
        if first {
            self.number.0.set(0);
        }
        first
    }

    /// Ends a call of which nothing is noted.
    #[inline]
    pub(crate) fn succeed_at_once(&self) {
        self.phase.0.set(Phase::SucceededAtOnce);
    }

    pub(crate) fn end(&self, outcome: Outcome) {
        self.phase.0.set(Phase::Ended(outcome));
    }

    /// Closes the call. Returns what it did before.
    pub(crate) fn close(&self) -> Phase {
        self.end_before_first();
        self.phase.0.replace(Phase::Closed)
    }

    /// Notes what the call found around it: a listener, a recorder, or a fault of its budget.
    #[inline]
    pub(crate) fn find(&self, fact: Notes) {
        self.note(fact, true);
    }
}

/// What calls inside do.
impl Frame {
    /// Counts a call inside. Returns whether one whose function has the same bit was counted before.
    pub(crate) fn call(&self, bit: u8) -> bool {
        let called = self.called.get();
        self.called.set(called | bit);
        called & bit != 0
    }

    /// Notes that there are failed retries here, and whether the call around does not know of them all.
    pub(crate) fn note_retries(&self, untold: bool) {
        self.note(Notes::FAILED_RETRIES, true);
        self.note(Notes::UNTOLD, untold);
    }
}

/// The limits of the code inside.
impl Frame {
    /// Nanoseconds since the start, or 0 before the start.
    #[inline]
    pub(crate) fn elapsed(&self, now: Stamp) -> u64 {
        self.started
            .get()
            .map_or(0, |started| now.nanos_since(started))
    }

    /// Nanoseconds until the deadline, or `None` without a deadline.
    pub(crate) fn until_deadline(&self, now: Stamp) -> Option<u64> {
        self.left_of(self.deadline.get(), now)
    }

    /// Cuts the range of a delay to the deadline. Returns `None` if no wait leaves the next attempt time to be of use. For an
    /// inherited deadline, that is a part of the time that was left when the time of this call started.
    pub(crate) fn within_deadline(&self, range: DelayRange, now: Stamp) -> Option<DelayRange> {
        match self.until_deadline(now) {
            None => Some(range),
            Some(left) => fit::within(range, self.deadline.get(), left),
        }
    }

    /// Nanoseconds until the nearest limit of the code inside, or `None` without a limit.
    pub(crate) fn until_nearest(&self, now: Stamp) -> Option<u64> {
        self.left_of(self.until.get().min(self.deadline.get()), now)
    }

    /// Whether the code inside has any limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.until.get().min(self.deadline.get()) != NEVER
    }

    /// Starts the time if there is a limit, because code inside reads the limit.
    pub(crate) fn start_if_limited(&self, now: Stamp) {
        if self.is_limited() {
            self.start(now);
        }
    }

    fn left_of(&self, limit: u64, now: Stamp) -> Option<u64> {
        (limit != NEVER).then(|| limit.saturating_sub(self.elapsed(now)))
    }

    /// Takes over the limits of the frame around, if they are nearer.
    pub(crate) fn inherit(&self, around: &Self, now: Stamp) {
        around.start_if_limited(now);
        let at = |left: Option<u64>| left.map(|left| self.elapsed(now).saturating_add(left));
        if let Some(deadline) = at(around.until_deadline(now)) {
            self.start(now);
            self.deadline.0.set(deadline.min(self.deadline.get()));
        }
        if let Some(until) = at(around.until_nearest(now)) {
            self.start(now);
            self.until.0.set(until.min(self.until.get()));
        }
    }

    /// Runs one poll under another deadline, if that is nearer.
    pub(crate) fn narrowed<T>(&self, deadline: Stamp, poll: impl FnOnce() -> T) -> T {
        let now = Stamp::now();
        self.start(now);
        // A deadline in the past counts as now.
        let narrow = deadline
            .max(now)
            .nanos_since(self.started.get().unwrap_or(now));
        if narrow >= self.deadline.get() {
            return poll();
        }
        let _widened = self.widened_after();
        self.deadline.0.set(narrow);
        self.note(Notes::NARROWED, true);
        poll()
    }

    /// Runs one poll under the limits of this frame and of the frame that polls it.
    pub(crate) fn within_limits_around<T>(&self, poll: impl FnOnce() -> T) -> T {
        let _widened = self.widened_after();
        around(|outer| self.inherit(outer, Stamp::now()));
        poll()
    }

    /// Restores the present limits after a poll.
    fn widened_after(&self) -> impl Drop {
        let (deadline, until) = (self.deadline.get(), self.until.get());
        let narrowed = self.has(Notes::NARROWED);
        Finally(move || {
            self.deadline.0.set(deadline);
            self.until.0.set(until);
            self.note(Notes::NARROWED, narrowed);
        })
    }
}

/// Does something when it is dropped, also if a panic unwinds.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Two attempts side by side.
impl Frame {
    /// Records that the call wanted to hedge and may not.
    pub(crate) fn refuse_hedge(&self) {
        self.cold().noted().hedging =
            Some(Box::new(Hedging::new(Hedge::Refused, self.inside.get())));
    }

    /// Lets calls inside not hedge, because this call may. Returns whether it may: no call around may.
    pub(crate) fn reserve_hedge(&self) -> bool {
        let may = self.inside.get() == Leeway::Anything;
        if may {
            self.inside.0.set(Leeway::Retry);
        }
        may
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
            span: SpanBeside::default(),
        };
        let mut noted = self.cold().noted();
        hedging.other = Some(self.replace_present(&mut noted, hedge));
        hedging.present_is_hedge = true;
        noted.hedging = Some(Box::new(hedging));
        drop(noted);
        self.number.0.set(2);
        around(|outer| self.inherit(outer, Stamp::now()));
        self.note(Notes::FAILED_RETRIES, true);
    }

    /// Makes one of the attempts that run the present one. `both` is whether the other runs too.
    pub(crate) fn turn_to(&self, which: Which, both: bool) {
        self.phase.0.set(Phase::Attempt);
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
            until: self.until.0.replace(with.until),
            again: self.again.replace(with.again),
            inside: self.inside.0.replace(with.inside),
            called: self.called.replace(with.called),
            open_commits: std::mem::replace(&mut noted.open_commits, with.open_commits),
            span: with.span.replace(noted.spans.as_mut()),
        }
    }

    /// Runs one poll of the present attempt, or a rule about it, in which the number is that of the attempt. Elsewhere, it is the
    /// number of the attempts that began.
    pub(crate) fn lend_present<T>(&self, poll: impl FnOnce() -> T) -> T {
        let begun = self.number.get();
        let _restored = Finally(|| self.number.0.set(begun));
        self.number.0.set(self.present());
        self.lend(poll)
    }

    /// The number of the present attempt. Two that failed count as one, which is the hedge.
    pub(crate) fn present(&self) -> u32 {
        let is_first = |hedging: &mut Hedging| {
            hedging.result == Hedge::Lost
                && !hedging.present_is_hedge
                && (hedging.other.is_some() || hedging.aside.is_some())
        };
        match self.number.get() {
            2 if self.with_hedging(is_first) == Some(true) => 1,
            number => number,
        }
    }

    /// Records that the present attempt, one of two, ends. The refusal of its poll counts only if it is the last.
    pub(crate) fn end_one_of_two(&self) {
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
                self.inside.0.set(hedging.inside);
                (hedging.aside.take(), hedging.refused.take())
            })
            .unwrap_or_default();
        self.refusal.set(refused);
        let Some((previous, other_hint)) = aside else {
            return hint;
        };
        let last = self.previous.get();
        let dearer = last.filter(|last| last.charge() >= previous.charge());
        self.previous.0.set(dearer.or(Some(previous)));
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

    /// Whether the attempt with the number of the frame is the hedge. In a task that carries an attempt, it need not be the
    /// present one.
    pub(crate) fn is_hedge(&self) -> bool {
        self.number.get() == 2 && self.hedge(false) == Some(Hedge::Lost)
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
