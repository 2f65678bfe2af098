//! Runs every interleaving of reloads and of calls that begin, with loom's model checker.
//!
//! `Overridden` is the production code. Its switch is loom's atomic, with the same orderings. Its slot is a stand-in for
//! `arc-swap`, because loom cannot see inside that crate: a policy is written field by field into memory that no thread
//! has read, and then one store publishes that memory. The orderings are those that `arc-swap` documents for its pointer:
//! a load acquires, a store releases. The fields are relaxed, so that a thread that is not synchronized with the writer
//! sees old values, as it would in memory. The model has no `Arc`, so it does not test that `arc-swap` keeps a policy
//! until the last reader is done. `tests/presets/tests/reload.rs` runs the real `arc-swap` on real threads.
//!
//! One thread reloads, since `config::apply` holds a lock while it sets presets.
//!
//! The order in which `Overridden::set` writes the policy and the switch does not matter. The switch is relaxed, so the
//! model has threads that see the switch before the policy in any case. They find the slot empty, and use the policy in
//! the code.

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
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
    let length = Duration::from_millis(n);
    Policy::new()
        .with_attempts(u32::try_from(n).unwrap())
        .with_timeout(length)
        .with_base(length)
}

/// Returns the number of a policy.
fn number(policy: &Policy) -> u64 {
    let millis = |length: Duration| u64::try_from(length.as_millis()).unwrap();
    one_number([
        policy.attempts().unwrap().into(),
        millis(policy.timeout().unwrap()),
        millis(policy.base()),
    ])
}

/// Returns the value of all keys. Panics if they differ, or were never written.
fn one_number(keys: [u64; 3]) -> u64 {
    let [first, ..] = keys;
    assert!(
        first > 0 && keys == [first; 3],
        "half of a reload: {keys:?}"
    );
    first
}

/// The memory of one policy, with a field for each key.
#[derive(Default)]
struct Fields([AtomicU64; 3]);

impl Fields {
    fn write(&self, policy: &Policy) {
        for field in &self.0 {
            field.store(number(policy), Ordering::Relaxed);
        }
    }

    fn read(&self) -> Policy {
        let fields = self.0.each_ref();
        policy(one_number(
            fields.map(|field| field.load(Ordering::Relaxed)),
        ))
    }
}

/// How a slot publishes a policy.
#[derive(Clone, Copy, PartialEq)]
enum Publishes {
    /// Like `arc-swap`.
    Whole,
    /// Wrong: with a store that does not release the fields.
    Relaxed,
    /// Wrong: before the fields are written.
    Early,
    /// Wrong: in the memory of the policy before it, one field after the other.
    InPlace,
}

/// A slot with memory for as many policies as a test sets.
struct Pointer {
    memory: [Fields; 2],
    /// How many policies were set.
    used: AtomicUsize,
    /// 0 for no policy, 1 for the first place in the memory.
    published: AtomicUsize,
    publishes: Publishes,
}

impl Pointer {
    fn publish(&self, place: usize) {
        let order = match self.publishes {
            Publishes::Relaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        };
        self.published.store(place, order);
    }
}

impl PolicySlot for Pointer {
    fn load(&self) -> Option<Policy> {
        let place = self.published.load(Ordering::Acquire).checked_sub(1)?;
        Some(self.memory[place].read())
    }

    fn store(&self, policy: Option<Policy>) {
        let Some(policy) = policy else {
            return self.publish(0);
        };
        let place = match self.publishes {
            Publishes::InPlace => 0,
            _ => self.used.fetch_add(1, Ordering::Relaxed),
        };
        if self.publishes == Publishes::Early {
            self.publish(place + 1);
        }
        self.memory[place].write(&policy);
        if self.publishes != Publishes::Early {
            self.publish(place + 1);
        }
    }
}

type Model = Arc<Overridden<AtomicBool, Pointer>>;

fn model(publishes: Publishes) -> Model {
    let pointer = Pointer {
        memory: Default::default(),
        used: AtomicUsize::new(0),
        published: AtomicUsize::new(0),
        publishes,
    };
    Arc::new(Overridden::of(AtomicBool::new(false), pointer))
}

/// Returns the number of the policy that a call gets when it begins.
fn call(preset: &Model) -> u64 {
    number(&preset.or(&policy(CODE)))
}

#[test]
fn calls_of_two_threads_that_begin_during_a_reload_go_by_one_whole_policy_each() {
    loom::model(|| {
        let preset = model(Publishes::Whole);
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
        let preset = model(Publishes::Whole);
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
        let (preset, reloaded) = (model(Publishes::Whole), Arc::new(AtomicBool::new(false)));
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

/// Sets two policies, one after the other, while another thread begins two calls.
fn reloads(publishes: Publishes) {
    loom::model(move || {
        let preset = model(publishes);
        let calls = {
            let preset = Arc::clone(&preset);
            thread::spawn(move || [call(&preset), call(&preset)])
        };
        for n in [2, 3] {
            preset.set(Some(policy(n)));
        }
        let [first, second] = calls.join().unwrap();
        assert!(first <= second, "older settings: {first}, {second}");
        assert_eq!(call(&preset), 3);
        preset.set(None);
        assert_eq!(call(&preset), CODE);
    });
}

#[test]
fn calls_that_begin_during_two_reloads_go_by_whole_policies_in_order() {
    reloads(Publishes::Whole);
}

#[test]
#[should_panic(expected = "half of a reload")]
fn the_model_rejects_a_reload_field_by_field() {
    reloads(Publishes::InPlace);
}

#[test]
#[should_panic(expected = "half of a reload")]
fn the_model_rejects_a_policy_that_is_published_before_its_fields_are_written() {
    reloads(Publishes::Early);
}

#[test]
#[should_panic(expected = "half of a reload")]
fn the_model_rejects_a_policy_that_is_published_without_release() {
    reloads(Publishes::Relaxed);
}
