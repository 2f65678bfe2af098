//! The policy that configuration sets in place of the policy in the code.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use crate::atomics::{Switch, Toggle};
use crate::policy::Policy;

/// Holds a policy, or none. `store` replaces the whole policy at once.
pub(super) trait PolicySlot {
    fn load(&self) -> Option<Policy>;
    fn store(&self, policy: Option<Policy>);
}

impl PolicySlot for ArcSwapOption<Policy> {
    fn load(&self) -> Option<Policy> {
        Self::load(self).as_deref().copied()
    }

    fn store(&self, policy: Option<Policy>) {
        Self::store(self, policy.map(Arc::new));
    }
}

/// The policy that overrides the policy in the code, if there is one.
#[derive(Debug)]
pub(super) struct Overridden<T = Switch, S = ArcSwapOption<Policy>> {
    /// Whether the preset was ever overridden. It is read first, because most presets are never overridden. It is never
    /// reset, so no thread that saw a policy goes back to an earlier policy.
    was_set: T,
    slot: S,
}

impl Overridden {
    pub(super) const fn new() -> Self {
        Self {
            was_set: Switch::new(false),
            slot: ArcSwapOption::const_empty(),
        }
    }
}

impl<T: Toggle, S: PolicySlot> Overridden<T, S> {
    #[cfg(test)]
    pub(super) const fn of(was_set: T, slot: S) -> Self {
        Self { was_set, slot }
    }

    /// Returns one whole policy: the one from a single [`set`](Self::set), or the one in the code.
    #[inline]
    pub(super) fn or(&self, code: &Policy) -> Policy {
        if self.was_set.is_on() {
            self.in_slot_or(code)
        } else {
            *code
        }
    }

    // Out of line, because most presets are never overridden. A thread that sees the switch before the policy finds an
    // empty slot, and uses the policy in the code.
    #[inline(never)]
    fn in_slot_or(&self, code: &Policy) -> Policy {
        self.slot.load().unwrap_or(*code)
    }

    pub(super) fn set(&self, policy: Option<Policy>) {
        let is_set = policy.is_some();
        self.slot.store(policy);
        if is_set {
            self.was_set.set(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Off<'l> {
        loads: &'l Cell<u32>,
    }

    impl Toggle for Off<'_> {
        fn is_on(&self) -> bool {
            self.loads.set(self.loads.get() + 1);
            false
        }

        fn set(&self, _: bool) {
            unreachable!("the preset is never overridden");
        }
    }

    struct Untouched;

    impl PolicySlot for Untouched {
        fn load(&self) -> Option<Policy> {
            unreachable!("the preset is never overridden");
        }

        fn store(&self, _: Option<Policy>) {
            unreachable!("the preset is never overridden");
        }
    }

    #[test]
    fn a_preset_that_was_never_overridden_costs_one_load() {
        let loads = Cell::new(0);
        let code = Policy::new().with_attempts(7);
        let overridden = Overridden::of(Off { loads: &loads }, Untouched);
        assert_eq!(overridden.or(&code), code);
        assert_eq!(loads.get(), 1);
    }
}
