//! What an inner call reads from the frame of the call around it, and what it writes there.
//!
//! All of this runs while the thread-local points at the frame around: before or after the poll of the inner call's
//! attempt.

use std::cell::LazyCell;
use std::sync::{Arc, Weak};

use super::cold::Cold;
use super::facts::{Leeway, Notes, Phase, Refusal};
use super::frame::{Frame, around};
use super::nesting::{FailedRetries, FunctionId, Operation, Ordinal};
use crate::clock::{Stamp, nanos};
use crate::policy::{Nested, Policy};

/// What the rule for nested retries needs to know about an annotated function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inner<'p> {
    pub(crate) function: FunctionId,
    pub(crate) policy: &'p Policy,
}

impl Inner<'_> {
    /// Begins an attempt inside another frame: inherits the limits of that frame, and the failed retries there.
    ///
    /// It is out of line, so that an outermost call costs one comparison.
    #[inline(never)]
    pub(crate) fn begin(&self, frame: &Frame, outer: &Frame) {
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
        if self.count(frame, outer) {
            let (operation, call) = (self.operation(frame), name_of(frame));
            let taken = outer.if_cold().map(|cold| {
                let remembered = &cold.noted().remembered;
                remembered.all_taken(operation, outer.number.get(), call.as_ref(), *now)
            });
            let taken = taken.unwrap_or_default();
            if !taken.is_empty() || frame.if_cold().is_some() {
                frame.cold().noted().remembered.inherit(taken);
            }
            frame.allow(self.allowed_in(frame, outer, *now));
        } else if outer.inside.get() == Leeway::Nothing || self.policy.nested() == Nested::Outermost
        {
            frame.allow(1);
        }
    }

    /// Counts the call as an operation of the attempt around it, if it begins. Returns whether failed retries of calls
    /// in that attempt may be known.
    fn count(&self, frame: &Frame, outer: &Frame) -> bool {
        if frame.phase.get() != Phase::New {
            return true;
        }
        if !outer.is_call() {
            return outer.if_cold().is_some();
        }
        let prepares = outer.phase.get() == Phase::Preparation;
        let ordinal = if outer.call(self.function.bit()) {
            let calls = &mut outer.cold().noted().calls_inside;
            calls.count(outer.number.get(), prepares, self.function)
        } else {
            Ordinal::first(prepares)
        };
        if ordinal != Ordinal::FIRST {
            frame.cold().noted().ordinal = ordinal;
        }
        outer
            .if_cold()
            .is_some_and(|cold| !cold.noted().remembered.is_empty())
    }

    /// What the call does within the attempt around it.
    fn operation(&self, frame: &Frame) -> Operation {
        let ordinal = frame.if_cold().map(|cold| cold.noted().ordinal);
        Operation::new(self.function, ordinal.unwrap_or(Ordinal::FIRST))
    }

    /// How many attempts the call may make here, or `u32::MAX` for no limit. `None` if its policy alone decides.
    #[inline(never)]
    pub(crate) fn allowed(&self, frame: &Frame) -> Option<u32> {
        around(|outer| {
            (!self.is_outermost(outer)).then(|| self.allowed_in(frame, outer, Stamp::now()))
        })
        .flatten()
    }

    fn own(&self) -> u32 {
        self.policy.attempts().unwrap_or(u32::MAX)
    }

    fn allowed_in(&self, frame: &Frame, outer: &Frame, now: Stamp) -> u32 {
        let own = self.own();
        if self.policy.nested() == Nested::Outermost {
            return 1;
        }
        if own == u32::MAX {
            return own;
        }
        if outer.inside.get() == Leeway::Nothing {
            return 1;
        }
        let (operation, call) = (self.operation(frame), name_of(frame));
        let taken = outer.if_cold().map_or(0, |cold| {
            let remembered = &cold.noted().remembered;
            remembered.taken(operation, outer.number.get(), call.as_ref(), now)
        });
        own.saturating_sub(taken).max(1)
    }

    /// Tells the call around of the failed retries here: `retries` of this call, and those of the calls
    /// inside it.
    pub(crate) fn hand_on(&self, frame: &Frame, retries: u32) {
        frame.tell();
        around(|outer| {
            if self.is_outermost(outer) || !outer.is_call() {
                return;
            }
            let now = Stamp::now();
            let operation = self.operation(frame);
            let mut failed = frame
                .if_cold()
                .map(|cold| cold.noted().remembered.totals(operation, now))
                .unwrap_or_default();
            if retries > 0 {
                let until = now.plus(nanos(self.policy.max_delay()));
                failed.push(FailedRetries::of(operation, retries, until));
            }
            let call = Arc::downgrade(frame.cold());
            let remembered = &mut outer.cold().noted().remembered;
            remembered.set(outer.number.get(), &call, failed, now);
            outer.hear();
        });
    }

    /// Whether the call counts as an outermost call here.
    fn is_outermost(&self, outer: &Frame) -> bool {
        self.policy.nested() == Nested::Multiply || outer.phase.get() == Phase::Scope
    }
}

/// The pointer by which the call around knows this call, if this call has told its retries.
fn name_of(frame: &Frame) -> Option<Weak<Cold>> {
    (frame.has(Notes::FAILED_RETRIES)).then(|| Arc::downgrade(frame.cold()))
}

/// Tells the call around that this call was refused a retry, unless that was by a deadline of this call alone.
pub(crate) fn refuse(frame: &Frame, refusal: Refusal) {
    around(|outer| {
        if refusal != Refusal::Deadline || frame.shares_deadline_of(outer) {
            outer.refuse(refusal);
        }
    });
}
