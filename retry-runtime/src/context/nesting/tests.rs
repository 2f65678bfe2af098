//! Tests the rule for nested retries: by a table of cases, and for its memory. `tests/behaviour/nested_trees.rs` compares calls
//! with a model of it.

use std::cell::Cell;

use super::*;

const F: FunctionId = FunctionId(1, "");
const G: FunctionId = FunctionId(2, "");

/// Which operation a call does within an outer one.
fn operation(outer: &Node, call: &Arc<Node>) -> Operation {
    let known = outer.known();
    let mut inside = known.inside.iter();
    let found = inside.find(|(_, node)| Arc::ptr_eq(node, call));
    let ((operation, _), _) = found.unwrap();
    *operation
}

/// The retries that are taken from the first call of `function` in this attempt.
fn taken(outer: &Node, function: FunctionId, attempt: u32) -> u32 {
    let call = outer.begin(attempt, (false, false), function, || at(0));
    call.taken(|| at(0))
}

fn at(second: u64) -> Stamp {
    Stamp::from_nanos(1 + second)
}

/// What happens to the calls inside one call.
enum Step {
    /// The call with this number begins in this attempt.
    Begins(usize, u32, FunctionId),
    /// It made this many retries.
    Retried(usize, u32),
    /// It ends, or is dropped.
    Ends(usize),
    /// The outer call made progress.
    Progress,
}

#[test]
fn a_table_of_cases() {
    use Step::{Begins, Ends, Progress, Retried};
    // The name, the steps, the attempt in question, and the retries that are taken from the first call of F and of G in it.
    let cases: &[(&str, &[Step], u32, [u32; 2])] = &[
        ("nothing", &[], 2, [0, 0]),
        (
            "only later attempts",
            &[Begins(0, 1, F), Retried(0, 3)],
            1,
            [0, 0],
        ),
        ("by function", &[Begins(0, 1, F), Retried(0, 3)], 2, [3, 0]),
        (
            "by the order of calls",
            &[Begins(0, 1, F), Begins(1, 1, F), Retried(1, 3)],
            2,
            [0, 0],
        ),
        (
            "a call counts up",
            &[Begins(0, 1, F), Retried(0, 1), Retried(0, 2)],
            2,
            [2, 0],
        ),
        (
            "a call that succeeded takes back",
            &[Begins(0, 1, F), Retried(0, 2), Retried(0, 0), Ends(0)],
            2,
            [0, 0],
        ),
        (
            "a sibling that succeeds leaves the retries of the other",
            &[
                Begins(0, 1, F),
                Begins(1, 1, G),
                Retried(0, 3),
                Retried(1, 2),
                Retried(0, 0),
            ],
            2,
            [0, 2],
        ),
        (
            "attempts add",
            &[
                Begins(0, 1, F),
                Retried(0, 1),
                Ends(0),
                Begins(1, 2, F),
                Retried(1, 1),
            ],
            3,
            [2, 0],
        ),
        (
            "a dropped call counts",
            &[Begins(0, 1, F), Retried(0, 2), Ends(0)],
            4,
            [2, 0],
        ),
        (
            "before progress nothing counts",
            &[Begins(0, 1, F), Retried(0, 2), Ends(0), Progress],
            2,
            [0, 0],
        ),
        (
            "a call that runs during the progress still counts",
            &[Begins(0, 1, F), Retried(0, 1), Progress, Retried(0, 2)],
            2,
            [2, 0],
        ),
    ];
    for (name, steps, attempt, taken) in cases {
        let outer = Node::default();
        let mut calls = [const { None }; 2];
        for step in *steps {
            match *step {
                Begins(call, attempt, function) => {
                    calls[call] = Some(outer.begin(attempt, (false, false), function, || at(0)));
                }
                Retried(call, retries) => calls[call].as_ref().unwrap().set(retries, at(100)),
                Ends(call) => calls[call] = None,
                Progress => outer.forget(),
            }
        }
        let all = [F, G].map(|function| self::taken(&outer, function, *attempt));
        assert_eq!(all, *taken, "{name}");
    }
}

/// As a future that the body keeps from one attempt to the next.
#[test]
fn a_call_is_not_charged_for_itself() {
    let outer = Node::default();
    let call = outer.begin(1, (false, false), F, || at(0));
    call.set(2, at(100));
    assert_eq!(taken(&outer, F, 2), 2);
    assert_eq!(call.taken(|| at(0)), 0);
}

#[test]
fn retries_are_forgotten_when_their_time_is_over() {
    let outer = Node::default();
    for (function, retries, until) in [(F, 2, 10), (G, 3, 20)] {
        let call = outer.begin(1, (false, false), function, || at(0));
        call.set(retries, at(until));
    }
    let later = [F, G].map(|function| outer.begin(2, (false, false), function, || at(0)));
    for (second, taken) in [(9, [2, 3]), (10, [0, 3]), (20, [0, 0])] {
        let all = later.each_ref().map(|call| call.taken(|| at(second)));
        assert_eq!(all, taken, "{second}");
    }
}

/// Two functions in two attempts side by side, and in a `before_retry`.
#[test]
fn calls_are_counted_by_function_and_attempt() {
    let outer = Node::default();
    let next = |attempt, prepares, function| {
        let call = outer.begin(attempt, (prepares, false), function, || at(0));
        let (_, of_preparation, number) = operation(&outer, &call);
        assert_eq!(of_preparation, prepares);
        number
    };
    let body = [
        (1, F),
        (1, G),
        (2, F),
        (1, F),
        (2, G),
        (2, G),
        (3, F),
        (3, F),
    ];
    let numbers = body.map(|(attempt, function)| next(attempt, false, function));
    assert_eq!(numbers, [1, 1, 1, 2, 1, 2, 1, 2]);
    assert_eq!([next(3, true, F), next(3, false, F)], [1, 3]);
    let prepared = [(false, G), (true, F), (true, F)];
    assert_eq!(
        prepared.map(|(prepares, function)| next(4, prepares, function)),
        [1, 1, 2]
    );
}

/// How many nodes there are, and how many pointers to them.
fn size(node: &Node) -> (usize, usize) {
    let known = node.known();
    let inside = known.inside.iter().map(|(_, node)| size(node));
    inside.fold((1, known.prior.len()), |sum, (nodes, prior)| {
        (sum.0 + nodes, sum.1 + prior)
    })
}

#[test]
fn a_loop_of_calls_keeps_a_thousand_nodes() {
    let outer = Node::default();
    for _ in 0..100_000 {
        let call = outer.begin(1, (false, false), F, || at(0));
        call.set(3, at(100));
    }
    assert_eq!(size(&outer), (1 + 1000, 0));
}

#[test]
fn calls_that_share_a_node_keep_the_most_retries_of_them() {
    let outer = Node::default();
    let begin = |attempt| outer.begin(attempt, (false, false), F, || at(0));
    let calls: Vec<_> = (0..1_002).map(|_| begin(1)).collect();
    for (call, retries) in calls[998..].iter().zip([2, 3, 1, 0]) {
        call.set(retries, at(100));
    }
    let later: Vec<_> = (0..1_002).map(|_| begin(2).taken(|| at(0))).collect();
    assert_eq!(later[997..], [0, 2, 3, 3, 3]);
    // One that stands alone takes its retries back.
    calls[998].set(0, at(0));
    assert_eq!(calls[998].known().retries, 0);
}

/// Each layer makes two attempts, and the innermost one always fails: each fails once more than the one inside it.
#[test]
fn many_layers_have_few_nodes_and_look_at_few() {
    /// Calls the layer with this many layers inside, from an attempt of its outer call. Returns the most pointers to prior nodes.
    fn call(outer: &Node, attempt: u32, layers: usize) -> usize {
        let function = FunctionId(layers, "");
        let node = outer.begin(attempt, (false, false), function, || at(0));
        let mut most = node.known().prior.len();
        let attempts = 2_u32.saturating_sub(node.taken(|| at(0))).max(1);
        for attempt in 1..=attempts {
            node.set(attempt - 1, at(100));
            if layers > 0 {
                most = most.max(call(&node, attempt, layers - 1));
            }
        }
        node.set(attempts - 1, at(100));
        most
    }
    let outer = Node::default();
    assert_eq!(call(&outer, 1, 100), 1);
    // That of each layer, with the one retry that it made.
    assert_eq!(size(&outer), (1 + 101, 0));
}

#[test]
fn ten_thousand_calls_at_once_keep_a_thousand_nodes() {
    let outer = Node::default();
    for attempt in 1..4 {
        let begun = (0..10_000).map(|_| outer.begin(attempt, (false, false), F, || at(0)));
        let begun: Vec<_> = begun.collect();
        for call in begun {
            call.set(1, at(100));
        }
    }
    // In the second attempt each has one before it, and in the third two.
    assert_eq!(size(&outer), (1 + 3 * 1000, 3 * 1000));
}

/// An outer call without a limit of attempts, which calls a function that calls another one. Both fail as often as they may.
/// The time of what failed is over after a hundred attempts.
#[test]
fn attempts_without_end_keep_few_nodes() {
    let outer = Node::default();
    let mut most = (0, 0);
    for attempt in 1..20_000 {
        let now = || at(u64::from(attempt));
        let until = at(u64::from(attempt) + 100);
        let middle = outer.begin(attempt, (false, false), F, now);
        let inner = middle.begin(1, (false, false), G, now);
        for node in [&middle, &inner] {
            node.set(3_u32.saturating_sub(node.taken(now)), until);
        }
        let size = size(&outer);
        most = (most.0.max(size.0), most.1.max(size.1));
    }
    // Those that matter, and at most seven that do not.
    assert!(most.0 <= 1 + 2 * 8 && most.1 <= 2 * 8 * 8, "{most:?}");
}

/// From its thousandth call on, a loop adds no node. However many there are then, it does not look through them each time.
#[test]
fn a_loop_looks_seldom_through_the_calls_before_it() {
    let outer = Node::default();
    let looks = Cell::new(0);
    let begin = |function| {
        let now = || {
            looks.set(looks.get() + 1);
            at(0)
        };
        outer
            .begin(1, (false, false), function, now)
            .set(1, at(100));
    };
    (0..1000).for_each(|_| begin(F));
    (0..24).for_each(|_| begin(G));
    assert_eq!(size(&outer), (1 + 1024, 0));
    // At 8 nodes, at 16, and so on to 512.
    assert_eq!(looks.take(), 7);
    (0..10_000).for_each(|_| begin(F));
    assert_eq!(looks.get(), 1);
}

/// A task that carries an earlier attempt makes calls while a later attempt does.
#[test]
fn two_attempts_at_once_do_not_wait_for_each_other() {
    let outer = Node::default();
    let nodes: Vec<_> = (1..=2)
        .map(|attempt| outer.begin(attempt, (false, false), F, || at(0)))
        .collect();
    std::thread::scope(|scope| {
        for (attempt, node) in (1..).zip(&nodes) {
            let outer = &outer;
            scope.spawn(move || {
                for _ in 0..10_000 {
                    let inner = node.begin(attempt, (false, false), G, || at(0));
                    inner.set(1, at(100));
                    inner.taken(|| at(0));
                    let _ = outer.begin(attempt, (false, false), F, || at(0));
                    node.taken(|| at(0));
                    if attempt == 1 {
                        node.forget();
                    }
                }
            });
        }
    });
    assert_eq!(taken(&outer, F, 3), 0);
}
