//! What the code inside leaves: the outcome of a call that was refused a retry. It lives as long as the poll.

use std::cell::Cell;

use scoped_tls_hkt::scoped_thread_local;

use super::{FRAME, Frame};
use crate::budget::Charge;
use crate::classify::AskedDelay;
use crate::context::rest::Failure;
use crate::report::PreviousFailure;
use crate::stopped::Outcome;

scoped_thread_local! {
    /// The frame beside whose body a hook or a rule runs.
    static BESIDE: Frame
}

impl Frame {
    /// Where a call inside leaves that it was refused a retry, unless a hook or a rule makes it, which is no part of the body.
    fn note(&self) -> Option<&Cell<Option<Outcome>>> {
        let is_beside = BESIDE.is_set() && BESIDE.with(|frame| std::ptr::eq(frame, self));
        (!is_beside).then_some(&self.refusal)
    }

    /// A call inside begins. Returns whether it follows the refusal of another one, or begins beside it, as in `join!`. If the body
    /// was pending, it went on after that.
    pub(crate) fn follows_refusal(&self) -> bool {
        if self.was_pending {
            self.forget_refusal();
        }
        self.note().is_some_and(|note| note.get().is_some())
    }

    /// A call inside failed, which maybe was refused a retry. If it `follows` the refusal of another one, the body went on after that.
    pub(crate) fn refuse(&self, refusal: Option<Outcome>, follows: bool) {
        if let Some(note) = self.note() {
            note.set(refusal.or(note.get().filter(|_| !follows)));
        }
    }

    /// The body went on after the refusal, or the call after its body.
    pub(crate) fn forget_refusal(&self) {
        self.note().inspect(|note| note.set(None));
    }

    /// The refusal of a call inside, because of which the body failed.
    pub(crate) fn refusal(&self) -> Option<Outcome> {
        self.refusal.get()
    }

    /// The code inside is pending. A refusal only counts if the attempt fails in the same poll, or waits for a call that ran beside the
    /// refused one.
    #[inline]
    pub(crate) fn suspend(&mut self) {
        let node = self.refusal.get().and_then(|_| self.node.get());
        if node.is_none_or(|node| !node.has_unrefused(self.present())) {
            self.refusal.set(None);
        }
        self.was_pending = true;
    }

    /// Sets the failure of one of two bodies aside, with the refusal of a call inside it.
    pub(crate) fn set_aside(&mut self, how: PreviousFailure, hint: Option<AskedDelay>) {
        let refusal = self.refusal.take();
        self.previous = Some(how);
        self.rest().noted().aside = Some(Failure { how, hint, refusal });
    }

    /// Takes the failure that was set aside into that of the attempt: the more expensive one counts, and the larger hint, which is
    /// returned.
    pub(crate) fn join_aside(&mut self, hint: Option<AskedDelay>) -> Option<AskedDelay> {
        let Some(aside) = self.noted().and_then(|mut noted| noted.aside.take()) else {
            return hint;
        };
        let how = self.previous;
        let dearer = how.filter(|how| Charge::after(*how) >= Charge::after(aside.how));
        self.previous = dearer.or(Some(aside.how));
        self.refusal.set(self.refusal.get().or(aside.refusal));
        hint.max(aside.hint)
    }
}

/// Runs a hook or a rule. It is no part of the body around, so a refusal of its calls is none of that.
pub(crate) fn beside_body<T>(run: impl FnOnce() -> T) -> T {
    if FRAME.is_set() {
        FRAME.with(|outer| BESIDE.set(outer, run))
    } else {
        run()
    }
}
