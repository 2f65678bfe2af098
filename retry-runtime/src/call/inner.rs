//! A call inside an attempt of another call: what it reads from the frame of that call, and what it writes there.
//!
//! All of this runs while the thread-local points at the frame around: before or after the poll of the inner call's
//! attempt.

use std::cell::LazyCell;
use std::sync::{Arc, Weak};

use super::State;
use crate::clock::{Stamp, nanos};
use crate::context::{
    Cold, FailedRetries, Frame, Leeway, Notes, Operation, Ordinal, Phase, Refusal, around,
};
use crate::policy::Nested;

impl State<'_> {
    /// Begins an attempt inside another frame: inherits the limits of that frame, and the failed retries there.
    ///
    /// It is out of line, so that an outermost call costs one comparison.
    #[inline(never)]
    pub(super) fn begin_within(&self, outer: &Frame) {
        let frame = &self.frame;
        // The clock is read only after a failure or if there is a limit.
        let now = LazyCell::new(Stamp::now);
        if outer.is_limited() {
            frame.inherit(outer, *now);
        }
        let outermost = self.is_outermost(outer);
        frame.begin_within(outer, !outermost);
        if outermost {
            return;
        }
        if self.count_within(outer) {
            let (operation, call) = (self.operation(), self.known_as());
            let taken = outer.if_cold().map(|cold| {
                let remembered = &cold.noted().remembered;
                remembered.all_taken(operation, outer.number.get(), call.as_ref(), *now)
            });
            let taken = taken.unwrap_or_default();
            if !taken.is_empty() || frame.if_cold().is_some() {
                frame.cold().noted().remembered.inherit(taken);
            }
            frame.allow(self.allowed_in(outer, *now));
        } else if self.makes_one_attempt(outer) {
            frame.allow(1);
        }
    }

    /// Counts the call as an operation of the attempt around it, if it begins. Returns whether failed retries of calls
    /// in that attempt may be known.
    fn count_within(&self, outer: &Frame) -> bool {
        if self.frame.phase.get() != Phase::New {
            return true;
        }
        if !outer.is_call() {
            return outer.if_cold().is_some();
        }
        let function = self.settings.function();
        let prepares = outer.phase.get() == Phase::Preparation;
        let ordinal = if outer.call(function.bit()) {
            let calls = &mut outer.cold().noted().calls_inside;
            calls.count(outer.number.get(), prepares, function)
        } else {
            Ordinal::first(prepares)
        };
        if ordinal != Ordinal::FIRST {
            self.frame.cold().noted().ordinal = ordinal;
        }
        outer
            .if_cold()
            .is_some_and(|cold| !cold.noted().remembered.is_empty())
    }

    /// What the call does within the attempt around it.
    fn operation(&self) -> Operation {
        let ordinal = self.frame.if_cold().map(|cold| cold.noted().ordinal);
        Operation::new(self.settings.function(), ordinal.unwrap_or(Ordinal::FIRST))
    }

    /// Returns how many attempts the call may make within the attempt around it, out of its `own`. It may make fewer if the
    /// same operation had failed retries.
    #[cold]
    pub(super) fn allowed_within(&self, outer: &Frame, own: u32) -> u32 {
        if self.is_outermost(outer) {
            return own;
        }
        let allowed = self.allowed_in(outer, Stamp::now()).min(own);
        self.frame.allow(allowed);
        if allowed < own && self.frame.attempts_in_a_row() >= allowed {
            self.log_fewer_attempts(allowed, own);
        }
        allowed
    }

    fn allowed_in(&self, outer: &Frame, now: Stamp) -> u32 {
        let own = self.settings.attempts;
        if self.makes_one_attempt(outer) {
            return 1;
        }
        if own == u32::MAX {
            return own;
        }
        let (operation, call) = (self.operation(), self.known_as());
        let taken = outer.if_cold().map_or(0, |cold| {
            let remembered = &cold.noted().remembered;
            remembered.taken(operation, outer.number.get(), call.as_ref(), now)
        });
        own.saturating_sub(taken).max(1)
    }

    /// Whether the call makes one attempt here, whatever its policy says.
    fn makes_one_attempt(&self, outer: &Frame) -> bool {
        outer.inside.get() == Leeway::Nothing || self.nested() == Nested::Outermost
    }

    /// Hands the failed retries to the call around: those of this call, and those inside it.
    pub(super) fn hand_on(&self) {
        self.hand_on_with(self.frame.attempts_in_a_row().saturating_sub(1));
    }

    /// The same, but with so many `retries` of this call.
    #[cold]
    pub(super) fn hand_on_with(&self, retries: u32) {
        let frame = &self.frame;
        if !frame.has(Notes::FAILED_RETRIES) {
            return;
        }
        around(|outer| {
            frame.note_retries(false);
            if self.is_outermost(outer) || !outer.is_call() {
                return;
            }
            let now = Stamp::now();
            let operation = self.operation();
            let mut failed = frame
                .if_cold()
                .map(|cold| cold.noted().remembered.totals(operation, now))
                .unwrap_or_default();
            if retries > 0 {
                let until = now.plus(nanos(self.settings.policy.max_delay()));
                failed.push(FailedRetries::of(operation, retries, until));
            }
            let call = Arc::downgrade(frame.cold());
            let remembered = &mut outer.cold().noted().remembered;
            remembered.set(outer.number.get(), &call, failed, now);
            outer.note_retries(true);
        });
    }

    /// Tells the call around that this call was refused a retry, unless that was by a deadline of this call alone.
    pub(super) fn refuse_around(&self, refusal: Refusal) {
        around(|outer| {
            if refusal != Refusal::Deadline || self.frame.shares_deadline_of(outer) {
                outer.refuse(Some(refusal));
            }
        });
    }

    /// Whether the call counts as an outermost call here.
    fn is_outermost(&self, outer: &Frame) -> bool {
        let is_scope = outer.phase.get() == Phase::Scope && outer.inside.get() != Leeway::Nothing;
        self.nested() == Nested::Multiply || is_scope
    }

    fn nested(&self) -> Nested {
        self.settings.policy.nested()
    }

    /// The pointer by which the call around knows this call, if this call has told its retries.
    fn known_as(&self) -> Option<Weak<Cold>> {
        let told = self.frame.has(Notes::FAILED_RETRIES);
        told.then(|| Arc::downgrade(self.frame.cold()))
    }
}
