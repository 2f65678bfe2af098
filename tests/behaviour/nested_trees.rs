//! Compares random trees of calls with the plain model of the rule: how they end, when, and how often each body runs.
//!
//! In some trees, bodies and timeouts drop calls, `Policy::run`, `propagate` and `blocking` functions take part, and
//! functions forget their retries.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::time::Duration;

use futures::future::{LocalBoxFuture, join_all};
use proptest::prelude::*;
use reattempt::{Backoff, Jitter, Policy, propagate, retry};
use tokio::time::{Instant, sleep, timeout};

use crate::nested_model::{Child, Done, Ending, FUNCTIONS, Model, Node};
use crate::script::ms;

const fn policy(function: usize) -> Policy {
    let function = &FUNCTIONS[function];
    Policy::new()
        .with_attempts(function.attempts)
        .with_base(ms(function.wait))
        .with_max_delay(ms(function.max_delay))
        .with_backoff(Backoff::Constant)
        .with_jitter(Jitter::None)
}

const fn limit(function: usize) -> Duration {
    match FUNCTIONS[function].timeout {
        Some(timeout) => ms(timeout),
        None => panic!("no timeout"),
    }
}

macro_rules! function {
    ($name:ident, $number:expr $(, timeout = $timeout:expr)?) => {
        #[retry(policy = policy($number), $(timeout = $timeout,)? budget = "none")]
        async fn $name(node: &Node) -> io::Result<()> {
            body(node).await
        }
    };
    (blocking $name:ident, $number:expr) => {
        #[retry(blocking, policy = policy($number), budget = "none")]
        fn $name(node: &Node) -> io::Result<()> {
            body_blocking(node)
        }
    };
}

function!(two, 0);
function!(three, 1);
function!(four, 2);
function!(five, 3);
function!(forgets_at_once, 4);
function!(forgets_soon, 5);
function!(cuts_two, 6, timeout = limit(6));
function!(cuts_four, 7, timeout = limit(7));
function!(blocking blocks_two, 9);
function!(blocking blocks_four, 10);

/// The functions that a body may call: without a time, with times, and those that a blocking body may call.
const TIMELESS: Range<usize> = 0..4;
const ASYNC: Range<usize> = 0..9;
const BLOCKING: Range<usize> = 9..11;

fn call(node: &Node) -> LocalBoxFuture<'_, io::Result<()>> {
    match node.function {
        0 => Box::pin(two(node)),
        1 => Box::pin(three(node)),
        2 => Box::pin(four(node)),
        3 => Box::pin(five(node)),
        4 => Box::pin(forgets_at_once(node)),
        5 => Box::pin(forgets_soon(node)),
        6 => Box::pin(cuts_two(node)),
        7 => Box::pin(cuts_four(node)),
        8 => {
            let policy = policy(8).with_timeout(limit(8));
            Box::pin(policy.run(|| body(node)).without_budget().unboxed())
        }
        _ => Box::pin(async { call_blocking(node) }),
    }
}

fn call_blocking(node: &Node) -> io::Result<()> {
    match node.function {
        9 => blocks_two(node),
        _ => blocks_four(node),
    }
}

async fn call_child(child: &Child) -> io::Result<()> {
    let call = call(&child.node);
    let call = if child.carried {
        Box::pin(propagate(call))
    } else {
        call
    };
    match child.dropped_after {
        Some(time) => match timeout(ms(time), call).await {
            Ok(ended) => ended,
            Err(_) => Err(ErrorKind::ConnectionReset.into()),
        },
        None => call.await,
    }
}

async fn body(node: &Node) -> io::Result<()> {
    let number = node.begin();
    if node.joined {
        let ended = join_all(node.children.iter().map(call_child)).await;
        for (child, ended) in node.children.iter().zip(ended) {
            if child.propagates {
                ended?;
            }
        }
    } else {
        for child in &node.children {
            let ended = call_child(child).await;
            if child.propagates {
                ended?;
            }
        }
    }
    if node.takes > 0 {
        sleep(ms(node.takes)).await;
    }
    Ok(node.end(number)?)
}

fn body_blocking(node: &Node) -> io::Result<()> {
    let number = node.begin();
    for child in &node.children {
        let ended = call_blocking(&child.node);
        if child.propagates {
            ended?;
        }
    }
    Ok(node.end(number)?)
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        3 => (0_u32..6).prop_map(Ending::SucceedsAfter),
        3 => Just(Ending::Fails),
        1 => Just(Ending::FailsForGood),
    ]
}

fn node(
    functions: Range<usize>,
    children: impl Strategy<Value = Vec<Child>>,
    takes: impl Strategy<Value = u64>,
    joined: impl Strategy<Value = bool>,
) -> impl Strategy<Value = Node> {
    let parts = (functions, children, joined, takes, ending());
    parts.prop_map(|(function, children, joined, takes, ending)| Node {
        function,
        children,
        joined,
        takes,
        ending,
        calls: Cell::new(0),
    })
}

/// Between one and three calls.
fn children(
    node: impl Strategy<Value = Node>,
    dropped_after: impl Strategy<Value = Option<u64>>,
    carried: f64,
) -> impl Strategy<Value = Vec<Child>> {
    let propagates = prop::bool::weighted(0.7);
    let child = (
        node,
        propagates,
        dropped_after,
        prop::bool::weighted(carried),
    );
    let child = child.prop_map(|(node, propagates, dropped_after, carried)| Child {
        node,
        propagates,
        dropped_after,
        carried,
    });
    prop::collection::vec(child, 1..4)
}

/// A random tree, at most six calls deep, in which no call is dropped.
fn tree() -> impl Strategy<Value = Node> {
    let node = |below| node(TIMELESS, below, Just(0), any::<bool>());
    node(Just(Vec::new()).boxed()).prop_recursive(5, 40, 3, move |inner| {
        node(children(inner, Just(None), 0.0).boxed())
    })
}

/// A random tree of blocking functions, at most three calls deep.
fn blocking_tree() -> impl Strategy<Value = Node> {
    let node = |below| node(BLOCKING, below, Just(0), Just(false));
    node(Just(Vec::new()).boxed()).prop_recursive(2, 6, 2, move |inner| {
        node(children(inner, Just(None), 0.0).boxed())
    })
}

/// A random tree, at most six calls deep, in which bodies and timeouts drop calls.
fn tree_with_drops() -> impl Strategy<Value = Node> {
    let takes = || prop_oneof![2 => Just(0), 1 => 1_u64..200];
    let node = move |below| node(ASYNC, below, takes(), any::<bool>());
    let leaf = prop_oneof![4 => node(Just(Vec::new()).boxed()), 1 => blocking_tree()];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let dropped_after = prop::option::weighted(0.3, 1_u64..900);
        node(children(inner, dropped_after, 0.1).boxed())
    })
}

/// What the tree does by the rule, or `None` if the rule does not say it.
fn expected(tree: &Node) -> Option<Done> {
    let done = Model::run(tree, true)?;
    (Model::run(tree, false)? == done).then_some(done)
}

fn made(tree: &Node) -> Done {
    tree.forget_calls();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let (ended, elapsed) = runtime.block_on(async {
        let began = Instant::now();
        (call(tree).await, began.elapsed())
    });
    Done {
        ended: ended.map_err(|error| error.kind()),
        elapsed: u64::try_from(elapsed.as_millis()).unwrap(),
        calls: tree.all_calls(),
    }
}

/// Every chain of one to six of the functions, which all fail. The test knows the number of calls.
#[test]
fn every_chain_of_up_to_six_calls_makes_one_call_and_the_sum_of_all_retries() {
    let leaf = |function| Node {
        function,
        children: Vec::new(),
        joined: false,
        takes: 0,
        ending: Ending::Fails,
        calls: Cell::new(0),
    };
    let around = |node: &Node| {
        let node = node.clone();
        TIMELESS.map(move |function| Node {
            children: vec![Child {
                node: node.clone(),
                propagates: true,
                dropped_after: None,
                carried: false,
            }],
            ..leaf(function)
        })
    };
    let mut chains = Vec::new();
    for depth in 1..=6 {
        chains = match depth {
            1 => TIMELESS.map(leaf).collect(),
            _ => chains.iter().flat_map(around).collect(),
        };
        for chain in &chains {
            let mut retries = 0;
            let mut node = Some(chain);
            while let Some(call) = node {
                retries += FUNCTIONS[call.function].attempts - 1;
                node = call.children.first().map(|child| &child.node);
            }
            for done in [Some(made(chain)), expected(chain)] {
                let done = done.expect("the rule says what a chain does");
                assert_eq!(done.ended, Err(ErrorKind::ConnectionReset));
                assert_eq!(done.calls.len(), depth);
                assert_eq!(done.calls.last(), Some(&(1 + retries)), "{chain:?}");
            }
        }
    }
}

/// At least half of the trees are compared.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig {
        max_global_rejects: config.cases,
        ..config
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_trees_of_calls_make_the_calls_that_the_rule_allows(tree in tree()) {
        let expected = expected(&tree);
        prop_assume!(expected.is_some());
        prop_assert_eq!(Some(made(&tree)), expected);
    }

    #[test]
    fn random_trees_of_dropped_calls_make_the_calls_that_the_rule_allows(tree in tree_with_drops()) {
        let expected = expected(&tree);
        prop_assume!(expected.is_some());
        prop_assert_eq!(Some(made(&tree)), expected);
    }
}
