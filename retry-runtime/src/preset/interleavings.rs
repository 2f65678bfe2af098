//! Runs every interleaving of reloads and of calls that begin, with loom's model checker, on the production code.
//!
//! Two parts are replaced. The switch is loom's atomic, with the same orderings. The slot is a stand-in for `arc-swap`,
//! because loom cannot see inside that crate. The stand-in is one word with the number of the policy that is set. It is
//! stored with `Release` and loaded with `Acquire`, as `arc-swap` documents for its pointer.
//! `tests/presets/tests/reload.rs` runs the real `arc-swap` on real threads.

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;

use super::overridden::{Overridden, PolicySlot};
use crate::atomics::Toggle;
use crate::policy::Policy;

impl Toggle for AtomicBool {
    fn is_on(&self) -> bool {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, on: bool) {
        self.store(on, Ordering::Relaxed);
    }
}

/// The policy in the code.
const CODE: u64 = 1;

/// Makes the policy number `n`: each key that it sets has the value `n`.
fn policy(n: u64) -> Policy {
    let attempts = u32::try_from(n).unwrap();
    Policy::new()
        .with_attempts(attempts)
        .with_base(Duration::from_millis(n))
}

/// Returns the number of a policy. Panics if its keys have different numbers.
fn number(policy: &Policy) -> u64 {
    let attempts = u64::from(policy.attempts().unwrap());
    let base = u64::try_from(policy.base().as_millis()).unwrap();
    assert_eq!(attempts, base, "half of a reload");
    attempts
}

/// Stores the number of the policy that is set, or 0: a reload replaces the whole policy.
struct Whole(AtomicU64);

impl PolicySlot for Whole {
    fn load(&self) -> Option<Policy> {
        match self.0.load(Ordering::Acquire) {
            0 => None,
            n => Some(policy(n)),
        }
    }

    fn store(&self, policy: Option<Policy>) {
        let number = policy.as_ref().map_or(0, number);
        self.0.store(number, Ordering::Release);
    }
}

/// A wrong slot, which stores one key after the other. The model must reject it.
struct FieldByField {
    attempts: AtomicU64,
    base: AtomicU64,
}

impl PolicySlot for FieldByField {
    fn load(&self) -> Option<Policy> {
        let attempts = u32::try_from(self.attempts.load(Ordering::Acquire)).unwrap();
        let base = Duration::from_millis(self.base.load(Ordering::Acquire));
        (attempts > 0).then(|| Policy::new().with_attempts(attempts).with_base(base))
    }

    fn store(&self, policy: Option<Policy>) {
        let number = policy.as_ref().map_or(0, number);
        self.attempts.store(number, Ordering::Release);
        self.base.store(number, Ordering::Release);
    }
}

type Model<S> = Arc<Overridden<AtomicBool, S>>;

fn whole() -> Model<Whole> {
    Arc::new(Overridden::of(
        AtomicBool::new(false),
        Whole(AtomicU64::new(0)),
    ))
}

/// Returns the number of the policy that a call gets when it begins.
fn call<S: PolicySlot>(preset: &Model<S>) -> u64 {
    number(&preset.or(&policy(CODE)))
}

#[test]
fn calls_of_two_threads_that_begin_during_a_reload_go_by_one_whole_policy_each() {
    loom::model(|| {
        let preset = whole();
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let preset = Arc::clone(&preset);
                thread::spawn(move || call(&preset))
            })
            .collect();
        preset.set(Some(policy(2)));
        for calls in calls {
            let seen = calls.join().unwrap();
            assert!(seen == CODE || seen == 2, "{seen}");
        }
        assert_eq!(call(&preset), 2);
    });
}

#[test]
fn no_call_goes_by_older_settings_than_the_call_before_it() {
    loom::model(|| {
        let preset = whole();
        let calls = {
            let preset = Arc::clone(&preset);
            thread::spawn(move || [call(&preset), call(&preset)])
        };
        // The calls may see these numbers in this order: 1, 2, 1 again, 3.
        preset.set(Some(policy(2)));
        preset.set(None);
        preset.set(Some(policy(3)));
        let seen = calls.join().unwrap();
        assert_ne!(seen, [3, CODE]);
        assert_ne!(seen, [3, 2]);
    });
}

#[test]
fn a_call_that_begins_after_a_reload_has_the_new_policy() {
    loom::model(|| {
        let (preset, reloaded) = (whole(), Arc::new(AtomicBool::new(false)));
        let calls = {
            let (preset, reloaded) = (Arc::clone(&preset), Arc::clone(&reloaded));
            thread::spawn(move || {
                let after = reloaded.load(Ordering::Acquire);
                (after, call(&preset))
            })
        };
        preset.set(Some(policy(2)));
        reloaded.store(true, Ordering::Release);
        let (after, seen) = calls.join().unwrap();
        assert!(!after || seen == 2, "the old policy was used");
    });
}

#[test]
#[should_panic(expected = "half of a reload")]
fn the_model_rejects_a_reload_field_by_field() {
    loom::model(|| {
        let slot = FieldByField {
            attempts: AtomicU64::new(0),
            base: AtomicU64::new(0),
        };
        let preset = Arc::new(Overridden::of(AtomicBool::new(false), slot));
        let calls = {
            let preset = Arc::clone(&preset);
            thread::spawn(move || call(&preset))
        };
        for n in [2, 3] {
            preset.set(Some(policy(n)));
        }
        calls.join().unwrap();
    });
}
