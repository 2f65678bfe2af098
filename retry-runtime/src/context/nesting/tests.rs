//! Tests the rule for nested retries: by a table of cases, on 5,460 chains of calls, and against a plain model.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use proptest::prelude::*;

use super::*;

const F: Operation = operation(1);
const G: Operation = operation(2);

/// The first call of this function.
const fn operation(function: usize) -> Operation {
    Operation::new(FunctionId(function, ""), Ordinal::FIRST)
}

fn at(second: u64) -> Stamp {
    Stamp::from_nanos(1 + second)
}

fn made(operation: Operation, retries: u32, until: u64) -> FailedRetries {
    FailedRetries::of(operation, retries, at(until))
}

/// A change of what one call remembers.
enum Step {
    /// In this attempt, the inner call with this number leaves these retries.
    Leaves(u32, usize, &'static [(Operation, u32)]),
    /// The inner call with this number ends.
    Ends(usize),
}

#[test]
fn a_table_of_cases() {
    use Step::{Ends, Leaves};
    // The name, the steps, the attempt in question, and the retries that are taken from F and from G in that attempt.
    let cases: &[(&str, &[Step], u32, [u32; 2])] = &[
        ("nothing", &[], 2, [0, 0]),
        ("only later attempts", &[Leaves(1, 0, &[(F, 3)])], 1, [0, 0]),
        ("by operation", &[Leaves(1, 0, &[(F, 3)])], 2, [3, 0]),
        (
            "a call counts up",
            &[Leaves(1, 0, &[(F, 1)]), Leaves(1, 0, &[(F, 2)])],
            2,
            [2, 0],
        ),
        (
            "a call that succeeded takes back",
            &[Leaves(1, 0, &[(F, 2)]), Leaves(1, 0, &[(F, 0)])],
            2,
            [0, 0],
        ),
        (
            "of calls in one attempt the largest counts",
            &[Leaves(1, 0, &[(F, 1)]), Ends(0), Leaves(1, 1, &[(F, 3)])],
            2,
            [3, 0],
        ),
        (
            "a sibling that succeeds leaves the other's retries",
            &[
                Leaves(1, 0, &[(F, 3)]),
                Leaves(1, 1, &[(F, 2)]),
                Leaves(1, 0, &[(F, 0)]),
            ],
            2,
            [2, 0],
        ),
        (
            "attempts add",
            &[Leaves(1, 0, &[(F, 1)]), Ends(0), Leaves(2, 1, &[(F, 1)])],
            3,
            [2, 0],
        ),
        (
            "a call that goes on in a later attempt counts once",
            &[Leaves(1, 0, &[(F, 2)]), Leaves(2, 0, &[(F, 3)])],
            3,
            [3, 0],
        ),
        (
            "retries that are handed on count by their own operation",
            &[Leaves(1, 0, &[(F, 1), (G, 3)]), Ends(0)],
            2,
            [1, 3],
        ),
        (
            "a dropped call counts",
            &[Leaves(1, 0, &[(F, 2)]), Ends(0)],
            4,
            [2, 0],
        ),
    ];
    for (name, steps, attempt, taken) in cases {
        let mut calls: Vec<_> = (0..2).map(|_| Some(Arc::new(()))).collect();
        let names: Vec<_> = calls.iter().flatten().map(Arc::downgrade).collect();
        let mut remembered = RetriesInside::default();
        for step in *steps {
            match step {
                Leaves(attempt, call, retries) => {
                    let retries = retries.iter().map(|(f, retries)| made(*f, *retries, 100));
                    remembered.set(*attempt, &names[*call], retries, at(0));
                }
                Ends(call) => calls[*call] = None,
            }
        }
        let all = [F, G].map(|operation| remembered.taken(operation, *attempt, None, at(0)));
        assert_eq!(all, *taken, "{name}");
    }
}

#[test]
fn a_call_is_not_charged_for_itself() {
    let call = Arc::new(());
    let call = Arc::downgrade(&call);
    let mut remembered = RetriesInside::default();
    remembered.set(1, &call, [made(F, 2, 100)], at(0));
    assert_eq!(remembered.taken(F, 2, Some(&call), at(0)), 0);
    assert_eq!(remembered.taken(F, 2, None, at(0)), 2);
}

#[test]
fn retries_are_forgotten_when_their_time_is_over() {
    let mut remembered = RetriesInside::<()>::default();
    remembered.set(1, &Weak::new(), [made(F, 2, 10), made(G, 3, 20)], at(0));
    for (second, taken) in [(9, [2, 3]), (10, [0, 3]), (20, [0, 0])] {
        let all = [F, G].map(|operation| remembered.taken(operation, 2, None, at(second)));
        assert_eq!(all, taken, "{second}");
    }
    remembered.set(2, &Weak::new(), [], at(20));
    assert!(remembered.is_empty());
}

/// An operation does not grow with the calls that ended.
#[test]
fn calls_that_ended_are_merged() {
    let mut remembered = RetriesInside::default();
    for retries in 0..1000 {
        let call = Arc::new(());
        let failed = [made(F, retries % 7, 100), made(G, retries % 3, 100)];
        remembered.set(1, &Arc::downgrade(&call), failed, at(0));
    }
    let entries: usize = remembered.0.values().map(Vec::len).sum();
    assert!(entries <= 4, "{remembered:?}");
    assert_eq!(remembered.taken(F, 2, None, at(0)), 6);
}

/// Two functions in two attempts side by side, and in a `before_retry`. The first call of each is not counted.
#[test]
fn calls_after_the_first_are_counted_by_function_and_attempt() {
    let (f, g) = (F.function, G.function);
    let mut calls = CallsInside::default();
    let mut next = |attempt, prepares, function| {
        let ordinal = calls.count(attempt, prepares, function);
        assert_eq!(ordinal.prepares, prepares);
        ordinal.number
    };
    let body = [
        (1, f),
        (1, g),
        (2, f),
        (1, f),
        (2, g),
        (2, g),
        (3, f),
        (3, f),
    ];
    let numbers = body.map(|(attempt, function)| next(attempt, false, function));
    assert_eq!(numbers, [2, 2, 2, 3, 2, 3, 2, 3]);
    assert_eq!(next(3, true, f), 2);
    assert_eq!(next(3, false, f), 4);
    assert_eq!(
        [next(4, false, g), next(4, true, f), next(4, true, f)],
        [2, 2, 3]
    );
    assert!(
        calls.0.iter().all(|called| called.attempt >= 3),
        "{calls:?}"
    );
    let last = (0..2000).map(|_| calls.count(5, false, f).number).last();
    assert_eq!(last, Some(1000));
}

#[test]
fn functions_share_the_eight_bits_evenly() {
    let names = (0..800).map(|number| format!("shop::price_{number}"));
    let mut bits = [0; 8];
    for name in names {
        bits[FunctionId(0, name.leak()).bit().trailing_zeros() as usize] += 1;
    }
    assert!(
        bits.iter().all(|functions| (50..150).contains(functions)),
        "{bits:?}"
    );
    assert_eq!(FunctionId(0, "").bit().count_ones(), 1);
}

#[test]
fn calls_within_an_operation_are_found_by_their_path() {
    let second = Operation {
        ordinal: Ordinal {
            number: 2,
            ..Ordinal::FIRST
        },
        ..F
    };
    let prepares = Operation {
        ordinal: Ordinal {
            prepares: true,
            ..Ordinal::FIRST
        },
        ..F
    };
    let mut inner = RetriesInside::default();
    let call = Weak::<()>::new();
    inner.set(1, &call, [made(F, 3, 100), made(G, 2, 100)], at(0));
    let mut outer = RetriesInside::default();
    outer.set(1, &call, inner.totals(second, at(0)), at(0));
    for (operation, within) in [
        (F, vec![]),
        (second, vec![made(F, 3, 100), made(G, 2, 100)]),
        (prepares, vec![]),
        (G, vec![]),
    ] {
        assert_eq!(outer.taken(operation, 2, None, at(0)), 0);
        assert_eq!(outer.all_taken(operation, 2, None, at(0)), within);
    }
    assert_eq!(outer.all_taken(second, 1, None, at(0)), []);
    // What was inherited is not told again.
    inner.inherit(outer.all_taken(second, 2, None, at(0)));
    assert_eq!(inner.taken(F, 1, None, at(0)), 3);
    assert_eq!(inner.taken(F, 2, None, at(0)), 6);
    assert_eq!(inner.totals(second, at(0)).len(), 2);
    assert_eq!(inner.totals(second, at(0))[0].retries, 3);
}

/// A call without time and futures. It does what `inner.rs` does around each attempt.
struct Caller {
    operation: Operation,
    attempts: u32,
    number: u32,
    name: Arc<()>,
    remembered: RetriesInside<()>,
}

impl Caller {
    fn new(operation: Operation, attempts: u32) -> Self {
        Self {
            operation,
            attempts,
            number: 0,
            name: Arc::new(()),
            remembered: RetriesInside::default(),
        }
    }

    fn begin(&mut self, outer: Option<&Self>) {
        if let Some(outer) = outer {
            let name = Arc::downgrade(&self.name);
            let remembered = &outer.remembered;
            let taken = remembered.all_taken(self.operation, outer.number, Some(&name), at(0));
            self.remembered.inherit(taken);
        }
        self.number += 1;
    }

    fn allowed(&self, outer: Option<&Self>) -> u32 {
        let taken = outer.map_or(0, |outer| {
            let name = Arc::downgrade(&self.name);
            (outer.remembered).taken(self.operation, outer.number, Some(&name), at(0))
        });
        self.attempts.saturating_sub(taken).max(1)
    }

    fn hand_on(&self, outer: Option<&mut Self>, retries: u32) {
        let Some(outer) = outer else { return };
        let mut failed = self.remembered.totals(self.operation, at(0));
        failed.push(made(self.operation, retries, 100));
        let name = Arc::downgrade(&self.name);
        outer.remembered.set(outer.number, &name, failed, at(0));
    }
}

/// Calls a chain of functions whose innermost body always fails, and counts the calls of that body.
fn chain(attempts: &[u32], mut outer: Option<&mut Caller>, depth: usize) -> u32 {
    let Some((own, inner)) = attempts.split_first() else {
        return 1;
    };
    let mut call = Caller::new(operation(depth), *own);
    let mut calls = 0;
    loop {
        call.begin(outer.as_deref());
        if call.number > 1 {
            call.hand_on(outer.as_deref_mut(), call.number - 1);
        }
        calls += chain(inner, Some(&mut call), depth + 1);
        if call.number >= call.allowed(outer.as_deref()) {
            call.hand_on(outer.as_deref_mut(), call.number - 1);
            return calls;
        }
    }
}

/// All 5,460 chains of depth 1 to 6 with 2 to 5 attempts each.
#[test]
fn every_chain_makes_one_call_and_the_sum_of_all_retries() {
    let mut chains = 0;
    for depth in 1..=6_u32 {
        for number in 0..4_u32.pow(depth) {
            let attempts: Vec<_> = (0..depth)
                .map(|at| 2 + number / 4_u32.pow(at) % 4)
                .collect();
            let retries: u32 = attempts.iter().map(|attempts| attempts - 1).sum();
            assert_eq!(chain(&attempts, None, 0), 1 + retries, "{attempts:?}");
            chains += 1;
        }
    }
    assert_eq!(chains, 5_460);
    // Longer than a path.
    for depth in [8, 9, 10, 11, 40] {
        assert_eq!(chain(&vec![3; depth], None, 0) as usize, 1 + 2 * depth);
    }
}

/// The plain model of what a call remembers: the retries by operation, attempt and inner call.
#[derive(Default)]
struct Plain(BTreeMap<(usize, u32, usize), u32>);

impl Plain {
    fn taken(&self, function: usize, attempt: u32, call: usize) -> u32 {
        (0..attempt)
            .map(|earlier| {
                let of = |((f, at, by), _): &(&(usize, u32, usize), &u32)| {
                    *f == function && *at == earlier && *by != call
                };
                let all = self.0.iter().filter(of);
                all.map(|(_, retries)| *retries).max().unwrap_or(0)
            })
            .sum()
    }

    fn set(&mut self, attempt: u32, call: usize, function: usize, total: u32) {
        let earlier: u32 = (0..attempt)
            .filter_map(|earlier| self.0.get(&(function, earlier, call)))
            .sum();
        let left = total.saturating_sub(earlier);
        self.0.insert((function, attempt, call), left);
    }
}

proptest! {
    /// Calls begin, retry, succeed and end in any order, over several attempts of the call around.
    #[test]
    fn any_history_agrees_with_the_plain_model(
        steps in prop::collection::vec((0..2_u32, 0..4_usize, 0..3_usize, 0..6_u32), 1..60),
    ) {
        let calls: Vec<_> = (0..4).map(|_| Arc::new(())).collect();
        let names: Vec<_> = calls.iter().map(Arc::downgrade).collect();
        let (mut remembered, mut plain, mut attempt) = (RetriesInside::default(), Plain::default(), 1);
        for (turn, call, function, total) in steps {
            attempt += turn;
            remembered.set(attempt, &names[call], [made(operation(function), total, 100)], at(0));
            for other in 0..3 {
                // `set` replaces what the call left for every function.
                plain.set(attempt, call, other, if other == function { total } else { 0 });
            }
            for (asked, name) in names.iter().enumerate() {
                for function in 0..3 {
                    prop_assert_eq!(
                        remembered.taken(operation(function), attempt, Some(name), at(0)),
                        plain.taken(function, attempt, asked)
                    );
                }
            }
        }
    }
}
