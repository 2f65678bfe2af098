//! The rule for nested retries: the failed retries of an operation are subtracted in later attempts of its
//! outer calls.
//!
//! Retries *failed* if their call failed or was dropped. In **later** attempts of the outer call, the same operation has that
//! many fewer attempts, and never fewer than one. A call that succeeds takes its own retries back. So any chain of calls runs
//! the innermost body at most 1 + the sum of all retries times: 7 for 4 × 4 attempts, and 10 for 4 × 4 × 4.
//!
//! Each call within another one has a node in a tree, in which it counts its retries:
//!
//! ```text
//! outer call
//!   attempt 1 ─ first call of `get`: 3 retries  ─ …
//!             ─ second call of `get`: 0 retries
//!   attempt 2 ─ first call of `get`: the node above is its *prior*, so it has 3 attempts fewer
//!                 ─ first call of `send`: its prior are the first calls of `send` within the prior of `get`
//! ```
//!
//! The tree grows neither with a loop nor with attempts. From the thousandth call of a function in an attempt on, all share
//! one node, which keeps the most retries of them. A node whose call ended without failed retries is dropped when its outer call retries or ends, or once
//! there are eight, and twice as many as were kept. And later attempts of the outer call leave few: an operation whose attempts are used
//! up makes no more retries. So many layers look at few nodes each.
//!
//! This file is pure: it uses no clock, frame or thread. Locks are taken from the outside in, and from a node to the prior ones,
//! which are those of earlier attempts. So no two threads wait for each other.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::rest::OuterBody;
use crate::clock::Stamp;
use crate::few;

/// Identifies a function by the address of its own `static`, or the calls of one place by their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionId(usize, &'static str);

impl FunctionId {
    pub(crate) fn of<T>(only: &'static T, name: &'static str) -> Self {
        Self(std::ptr::from_ref(only).addr(), name)
    }
}

/// What a call does within an attempt of its outer call, or within the `before_retry` after that if it `prepares`: the function, and
/// which of its calls it is.
type Operation = (FunctionId, bool, u32);

/// Calls from this one on have the same number, so that a loop without end does not fill the memory.
const LAST: u32 = 1000;

/// What is known of the retries of one call, and of those inside it.
#[derive(Debug, Default)]
pub(crate) struct Node {
    state: Mutex<NodeState>,
    /// Where the call began.
    around: OnceLock<OuterBody>,
}

#[derive(Debug, Default)]
struct NodeState {
    /// The retries of the call. They failed, unless the call succeeds.
    retries: u32,
    /// When they are forgotten.
    until: Option<Stamp>,
    /// Whether several calls have this node.
    shared: bool,
    /// Whether the call began after another one in the same attempt was refused a retry.
    follows: bool,
    /// The calls inside, sorted by operation and attempt.
    inside: Vec<((Operation, u32), Arc<Node>)>,
    /// Calls that no longer matter are dropped once so many are inside.
    most_inside: usize,
    /// How many calls of each function the present attempts made, sorted.
    called: Vec<((u32, FunctionId, bool), u32)>,
    /// The same operation in earlier attempts of the outer calls, which hold these nodes as long as they matter.
    prior: Vec<Weak<Node>>,
}

impl NodeState {
    /// The nodes of the `operation` inside, before this `attempt`.
    fn earlier(&self, operation: Operation, attempt: u32) -> impl Iterator<Item = &Arc<Node>> {
        let earlier = few::range(&self.inside, (operation, 0)..(operation, attempt));
        earlier.iter().map(|(_, node)| node)
    }

    /// The nodes of the `operation` before this `attempt`, also within earlier attempts of the outer calls.
    fn prior_of(&self, operation: Operation, attempt: u32) -> Vec<Weak<Node>> {
        let mut all: Vec<_> = (self.earlier(operation, attempt))
            .map(Arc::downgrade)
            .collect();
        for outer in self.prior.iter().filter_map(Weak::upgrade) {
            let known = outer.known();
            all.extend(known.earlier(operation, u32::MAX).map(Arc::downgrade));
        }
        all
    }

    /// The retries that are not forgotten.
    fn retries(&self, now: Stamp) -> u32 {
        if self.until > Some(now) {
            self.retries
        } else {
            0
        }
    }
}

impl Node {
    /// A call of `function` begins within this `attempt`, or within the `before_retry` after it. It may follow one that was refused a
    /// retry. Returns its node.
    pub(crate) fn begin(
        &self,
        attempt: u32,
        (prepares, follows): (bool, bool),
        function: FunctionId,
        now: impl FnOnce() -> Stamp,
    ) -> Arc<Self> {
        let known = &mut *self.known();
        // The attempt before this one may still run, if this one is a hedge.
        known.called.retain(|((of, ..), _)| of + 1 >= attempt);
        let of = (attempt, function, prepares);
        let called = few::get_or_insert_with(&mut known.called, of, u32::default);
        *called = LAST.min(*called + 1);
        let operation = (function, prepares, *called);
        // At least as many calls begin before the next time as are kept now, so a call costs the same however many there are.
        if known.inside.len() >= known.most_inside.max(8) {
            let now = now();
            known.inside.retain(|(_, node)| matters(node, now));
            known.most_inside = 2 * known.inside.len();
        }
        let prior = known.prior_of(operation, attempt);
        let of = (operation, attempt);
        let node = few::get_or_insert_with(&mut known.inside, of, Arc::default);
        let mut state = node.known();
        (state.prior, state.shared, state.follows) = (prior, operation.2 == LAST, follows);
        drop(state);
        Arc::clone(node)
    }

    /// Sets the retries of the call, which are forgotten at `until`. A node of several calls keeps the most of them.
    pub(crate) fn set(&self, retries: u32, until: Stamp) {
        let known = &mut *self.known();
        let least = if known.shared {
            (known.retries, known.until)
        } else {
            (0, None)
        };
        (known.retries, known.until) = (least.0.max(retries), least.1.max(Some(until)));
        known.inside.retain(|(_, node)| {
            let known = node.known();
            is_running(node) || known.retries > 0 || !known.inside.is_empty()
        });
    }

    /// Forgets the retries of the call, and of the calls inside it that ended.
    pub(crate) fn forget(&self) {
        let mut known = self.known();
        known.retries = 0;
        known.inside.retain(|(_, node)| is_running(node));
    }

    /// How many retries of the same operation failed in earlier attempts of the outer calls.
    pub(crate) fn taken(&self, now: impl FnOnce() -> Stamp) -> u32 {
        let known = self.known();
        if known.prior.is_empty() {
            return 0;
        }
        let now = now();
        let prior = known.prior.iter().filter_map(Weak::upgrade);
        prior.fold(0, |sum, node| sum.saturating_add(node.known().retries(now)))
    }

    /// Whether a call inside this `attempt` is under way that follows no refusal there: it runs beside a call that was refused.
    pub(crate) fn has_unrefused(&self, attempt: u32) -> bool {
        let known = self.known();
        let mut inside = known.inside.iter().filter(|((_, of), _)| *of == attempt);
        inside.any(|(_, node)| is_running(node) && !node.known().follows)
    }

    /// The call began there. Returns false if several calls have this node, so it cannot say of which they are.
    pub(super) fn begin_within(&self, around: &OuterBody) -> bool {
        let is_own = !self.known().shared;
        is_own && self.around.set(around.clone()).is_ok()
    }

    /// Where the call began.
    pub(super) fn around(&self) -> Option<&OuterBody> {
        self.around.get()
    }

    fn known(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the call of a node is under way: its frame, or a copy of that in another task, holds the node too.
fn is_running(node: &Arc<Node>) -> bool {
    Arc::strong_count(node) > 1
}

/// Whether a node has failed retries that are not forgotten, or may have some.
fn matters(node: &Arc<Node>, now: Stamp) -> bool {
    is_running(node) || {
        let known = node.known();
        known.retries(now) > 0 || known.inside.iter().any(|(_, node)| matters(node, now))
    }
}

#[cfg(test)]
mod tests;
