//! What a call shares with the code inside its attempts, and the pointer by which that code finds it.
//!
//! The future of a call holds one [`Frame`]. While an attempt is polled, a scoped thread-local points at it:
//!
//! ```text
//! poll of the outer call        the pointer: unset, or at what lies around
//!   lend ─ poll of its body     the pointer: at the outer call's frame
//!     poll of an inner call
//!       lend ─ poll of body     the pointer: at the inner call's frame
//!     the inner call decides    the pointer: at the outer call's frame, which it reads and writes
//! ```

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use scoped_tls_hkt::ScopedKey;

use super::nesting::Node;
use super::phase::{Allowed, Bodies, Count, Leeway, Phase, Times};
use super::rest::{Failure, Rest};
use crate::classify::AskedDelay;
use crate::clock::Stamp;
use crate::report::{PreviousFailure, Which};
use crate::stopped::Outcome;

/// What `scoped_thread_local!` makes, but as a `const`, which other crates can see into: each poll of an attempt sets it.
pub(super) const FRAME: ScopedKey<Frame> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Frame>> = const { Cell::new(None) });
        &POINTER
    },
};

/// What a call shares with the code inside its attempts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Frame {
    pub(crate) times: Cell<Times>,
    /// During a poll: the deadline is that of a scope inside the attempt, so it is not the call's.
    pub(super) narrowed: Cell<bool>,
    pub(crate) phase: Cell<Phase>,
    /// The bodies of the present attempt, or of the last one.
    pub(crate) bodies: Cell<Bodies>,
    count: Cell<Count>,
    /// What calls inside an attempt may do, unless it is a hedge.
    pub(crate) inside: Cell<Allowed>,
    /// How the last attempt failed.
    pub(crate) previous: Cell<Option<PreviousFailure>>,
    /// How many faults of its budget had begun when the call began.
    pub(crate) faults: Cell<u32>,
    /// The call was pending. Until then, calls that were made with it may not have begun.
    pub(crate) was_pending: Cell<bool>,
    /// A call inside was refused a retry in the current poll, and ended with this outcome.
    pub(crate) refusal: Cell<Option<Outcome>>,
    /// What is known of retries here, if the call is within another one or has calls inside.
    node: OnceCell<Arc<Node>>,
    rest: OnceCell<Arc<Rest>>,
}

impl Frame {
    /// The frame of a call that may make so many attempts.
    #[inline]
    pub(crate) fn new(times: Times, most: u32, rest: Option<Arc<Rest>>) -> Self {
        Self {
            times: Cell::new(times),
            count: Cell::new(Count { number: 0, most }),
            rest: rest.map_or_else(OnceCell::new, OnceCell::from),
            ..Self::default()
        }
    }

    /// The frame of a scope with this deadline, for code without an outer call.
    pub(crate) fn of_scope(deadline: Stamp) -> Self {
        Self {
            phase: Cell::new(Phase::Scope),
            times: Cell::new(Times::new(None, deadline)),
            ..Self::default()
        }
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let mut phase = Phase::Scope;
        if self.is_attempt() {
            phase = Phase::Carried;
            // The copy shares it, so that the call has one idempotency key wherever the first use is.
            self.rest();
        }
        let mut inside = self.inside();
        if inside.again {
            inside.leeway = Leeway::Nothing;
        }
        Self {
            phase: Cell::new(phase),
            inside: Cell::new(inside),
            ..self.clone()
        }
    }

    /// What calls inside may do: in a hedge, they make one attempt.
    pub(crate) fn inside(&self) -> Allowed {
        let Allowed { leeway, again } = self.inside.get();
        Allowed {
            leeway: match self.which() {
                Which::First => leeway,
                Which::Hedge => Leeway::Nothing,
            },
            again: again || self.present() > 1,
        }
    }

    /// Which of two bodies is polled, or ended last.
    pub(crate) fn which(&self) -> Which {
        match self.bodies.get() {
            Bodies::One => Which::First,
            Bodies::Both(which) | Bodies::Rest(which) => which,
        }
    }

    /// Attempts begun, the current one and a hedge included.
    pub(crate) fn number(&self) -> u32 {
        self.count.get().number
    }

    /// Counts an attempt or a hedge that begins.
    pub(crate) fn count_attempt(&self) {
        let Count { number, most } = self.count.get();
        let number = number.saturating_add(1);
        self.count.set(Count { number, most });
    }

    /// Allows so many attempts in a row.
    pub(crate) fn allow(&self, most: u32) {
        let number = self.number();
        self.count.set(Count { number, most });
    }

    /// The number of the attempt or the hedge that is polled, or that ended last.
    pub(crate) fn present(&self) -> u32 {
        match self.bodies.get() {
            // Only the first attempt has a hedge.
            Bodies::Both(Which::First) | Bodies::Rest(Which::First) => 1,
            _ => self.number(),
        }
    }

    /// Runs one poll of the code inside.
    #[inline]
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        FRAME.set(self, poll)
    }

    /// Whether the code inside runs in an attempt, maybe in another task.
    pub(crate) fn is_attempt(&self) -> bool {
        matches!(self.phase.get(), Phase::Attempt(_) | Phase::Carried)
    }

    /// Whether the code inside runs for a call that makes attempts of its own.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.phase.get(), Phase::Attempt(_) | Phase::Preparation(_))
    }

    /// What most calls never need, made when it is first needed.
    pub(crate) fn rest(&self) -> &Arc<Rest> {
        self.rest.get_or_init(Arc::default)
    }

    /// The same, if it exists.
    #[inline]
    pub(crate) fn if_rest(&self) -> Option<&Arc<Rest>> {
        self.rest.get()
    }

    /// What is known of the retries of the calls inside.
    pub(crate) fn node(&self) -> &Arc<Node> {
        self.node.get_or_init(Arc::default)
    }

    /// The same, if it exists.
    pub(crate) fn if_node(&self) -> Option<&Arc<Node>> {
        self.node.get()
    }

    /// Takes its place within the outer call.
    pub(crate) fn join(&self, node: Arc<Node>) {
        let _ = self.node.set(node);
    }

    /// The body went on after a refusal, or ended.
    pub(crate) fn forget_refusal(&self) {
        self.refusal.set(None);
    }

    /// Sets the failure of one of two bodies aside, with the refusal of a call inside it.
    pub(crate) fn set_aside(&self, how: PreviousFailure, hint: Option<AskedDelay>) {
        let refusal = self.refusal.take();
        self.previous.set(Some(how));
        self.rest().noted().hedging.aside = Some(Failure { how, hint, refusal });
    }

    /// Takes the failure that was set aside into that of the attempt. Returns the hint.
    pub(crate) fn join_aside(&self, hint: Option<AskedDelay>) -> Option<AskedDelay> {
        let aside = self
            .if_rest()
            .and_then(|rest| rest.noted().hedging.aside.take());
        let (Some(how), Some(aside)) = (self.previous.get(), aside) else {
            return hint;
        };
        let refusal = self.refusal.get();
        let failure = Failure { how, hint, refusal }.join(aside);
        self.previous.set(Some(failure.how));
        self.refusal.set(failure.refusal);
        failure.hint
    }

    /// How many attempts the call made, without those that no longer count because a later one made progress.
    pub(crate) fn attempts_in_a_row(&self) -> u32 {
        self.number() - self.progressed().saturating_sub(1)
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        let most = Some(self.count.get().most).filter(|most| *most < u32::MAX)?;
        Some(most.saturating_add(self.progressed().saturating_sub(1)))
    }

    /// The number of the attempt that made progress last, or 0.
    pub(crate) fn progressed(&self) -> u32 {
        self.if_rest().map_or(0, |rest| rest.noted().progressed)
    }

    /// Lets the attempts before this one no longer count, nor the failed retries inside them.
    pub(crate) fn progress(&self) {
        let number = self.present();
        let mut noted = self.rest().noted();
        // A task may still carry an earlier attempt.
        if number >= noted.progressed {
            noted.waits.last = None;
            noted.progressed = number;
            if let Some(node) = self.if_node() {
                node.forget();
            }
        }
    }
}

/// Runs a hook or a rule. It is no part of the body around, so a refusal of its calls is none of that. Restored also if a panic unwinds.
pub(crate) fn beside_body<T>(run: impl FnOnce() -> T) -> T {
    let refusal = outer(|outer| outer.refusal.get()).flatten();
    let _restored = Finally(move || {
        outer(|outer| outer.refusal.set(refusal));
    });
    run()
}

/// Calls a function when it is dropped.
pub(super) struct Finally<F: Fn()>(pub(super) F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Whether there is an outer frame.
#[inline]
pub(crate) fn is_within() -> bool {
    FRAME.is_set()
}

/// Shows the outer frame to `f`, if there is one.
#[inline]
pub(crate) fn outer<T>(f: impl FnOnce(&Frame) -> T) -> Option<T> {
    FRAME.is_set().then(|| FRAME.with(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u32, most: u32) -> Frame {
        let frame = Frame::new(Times::default(), most, None);
        (0..number).for_each(|_| frame.count_attempt());
        frame
    }

    #[test]
    fn of_two_bodies_one_is_present() {
        use Which::{First, Hedge};
        for (bodies, which, number) in [
            (Bodies::One, First, 2),
            (Bodies::Both(First), First, 1),
            (Bodies::Both(Hedge), Hedge, 2),
            (Bodies::Rest(First), First, 1),
            (Bodies::Rest(Hedge), Hedge, 2),
        ] {
            let frame = frame(2, 3);
            frame.bodies.set(bodies);
            assert_eq!(frame.which(), which, "{bodies:?}");
            assert_eq!(frame.present(), number, "{bodies:?}");
        }
    }

    #[test]
    fn attempts_before_the_last_progress_no_longer_count() {
        for (progressed, in_a_row, allowed) in [(0, 5, 3), (1, 5, 3), (2, 4, 4), (5, 1, 7)] {
            let frame = frame(5, 3);
            frame.rest().noted().progressed = progressed;
            assert_eq!(frame.attempts_in_a_row(), in_a_row);
            assert_eq!(frame.attempts_allowed(), Some(allowed));
        }
        let unlimited = frame(5, u32::MAX);
        unlimited.rest().noted().progressed = 9;
        assert_eq!(unlimited.attempts_allowed(), None);
    }
}
