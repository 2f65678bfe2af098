//! A frame that is taken out of its thread, for a task of its own.

use super::frame::{BEFORE, ID, LIMITS, Limits, NOTES, PLACE, PREVIOUS, current};
use super::notes::{Notes, Retries};
use super::place::Place;
use super::{Limit, Previous};

/// A whole frame, to keep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    place: Place,
    id: u64,
    before: Retries,
    notes: Notes,
    previous: Option<Previous>,
    limits: Limits,
}

impl Kept {
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

    /// Runs one poll in this frame, and reads it back. A limit that holds where it is polled goes on
    /// to hold.
    pub(super) fn run<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        struct Back<'f> {
            frame: &'f mut Kept,
            around: Kept,
        }
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                let limits = self.frame.limits;
                *self.frame = Kept {
                    limits,
                    ..Kept::load()
                };
                self.around.store();
            }
        }
        let back = Back {
            around: Self::load(),
            frame: self,
        };
        back.frame.store();
        let (own, around) = (back.frame.limits, back.around.limits);
        LIMITS.set(Limits {
            deadline: own.deadline.or_nearer(around.deadline),
            attempt: own.attempt.or_nearer(around.attempt),
        });
        poll()
    }

    fn load() -> Self {
        Self {
            place: PLACE.get(),
            id: ID.get(),
            before: BEFORE.get(),
            notes: NOTES.get(),
            previous: PREVIOUS.get(),
            limits: LIMITS.get(),
        }
    }

    fn store(&self) {
        PLACE.set(self.place);
        ID.set(self.id);
        BEFORE.set(self.before);
        NOTES.set(self.notes);
        PREVIOUS.set(self.previous);
        LIMITS.set(self.limits);
    }
}

#[cfg(test)]
pub(super) fn is_outside() -> bool {
    let kept = Kept::load();
    kept.place.number() == 0
        && kept.place.level() == 0
        && (kept.id, kept.before, kept.notes) == (0, Retries::NONE, Notes::NONE)
        && kept.previous.is_none()
        && kept.limits.attempt.is_none()
        && kept.limits.deadline.is_none()
}
