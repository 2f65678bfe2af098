//! Compares random trees of annotated functions with the plain model of the rule.

use std::cell::Cell;
use std::io::{self, ErrorKind};

use futures::future::{LocalBoxFuture, join_all};
use proptest::prelude::*;
use reattempt::{Backoff, Policy, retry};

use crate::nested_model::{ATTEMPTS, Child, Ending, Model, Node};
use crate::script::ms;

const EACH: Policy = Policy::new()
    .with_base(ms(1))
    .with_backoff(Backoff::Constant);

macro_rules! function {
    ($name:ident, $attempts:expr) => {
        #[retry(policy = EACH, attempts = $attempts, budget = "none")]
        async fn $name(node: &Node) -> io::Result<()> {
            body(node).await
        }
    };
}

function!(two, ATTEMPTS[0]);
function!(three, ATTEMPTS[1]);
function!(four, ATTEMPTS[2]);
function!(five, ATTEMPTS[3]);

fn call(node: &Node) -> LocalBoxFuture<'_, io::Result<()>> {
    match node.function {
        0 => Box::pin(two(node)),
        1 => Box::pin(three(node)),
        2 => Box::pin(four(node)),
        _ => Box::pin(five(node)),
    }
}

async fn body(node: &Node) -> io::Result<()> {
    let number = node.begin();
    if node.joined {
        let ended = join_all(node.children.iter().map(|child| call(&child.node))).await;
        for (child, ended) in node.children.iter().zip(ended) {
            if child.propagates {
                ended?;
            }
        }
    } else {
        for child in &node.children {
            let ended = call(&child.node).await;
            if child.propagates {
                ended?;
            }
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

fn node(children: impl Strategy<Value = Vec<Child>>) -> impl Strategy<Value = Node> {
    let parts = (0_usize..4, children, any::<bool>(), ending());
    parts.prop_map(|(function, children, joined, ending)| Node {
        function,
        children,
        joined,
        ending,
        calls: Cell::new(0),
    })
}

/// A random tree, at most six calls deep.
fn tree() -> impl Strategy<Value = Node> {
    node(Just(Vec::new())).prop_recursive(5, 40, 3, |inner| {
        let child = (inner, prop::bool::weighted(0.7));
        let child = child.prop_map(|(node, propagates)| Child { node, propagates });
        node(prop::collection::vec(child, 1..4))
    })
}

/// How often each body runs by the model.
fn expected(tree: &Node, hands_on_after_success: bool) -> (Result<(), ErrorKind>, Vec<u32>) {
    tree.forget_calls();
    let ended = Model::new(hands_on_after_success).call(tree);
    (ended, tree.all_calls())
}

fn made(tree: &Node) -> (Result<(), ErrorKind>, Vec<u32>) {
    tree.forget_calls();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let ended = runtime.block_on(call(tree));
    (ended.map_err(|error| error.kind()), tree.all_calls())
}

/// Every chain of one to six of the functions, which all fail. The test knows the number of calls.
#[test]
fn every_chain_of_up_to_six_calls_makes_one_call_and_the_sum_of_all_retries() {
    let leaf = |function| Node {
        function,
        children: Vec::new(),
        joined: false,
        ending: Ending::Fails,
        calls: Cell::new(0),
    };
    let around = |node: &Node| {
        let node = node.clone();
        (0..ATTEMPTS.len()).map(move |function| Node {
            children: vec![Child {
                node: node.clone(),
                propagates: true,
            }],
            ..leaf(function)
        })
    };
    let mut chains = Vec::new();
    for depth in 1..=6 {
        chains = match depth {
            1 => (0..ATTEMPTS.len()).map(leaf).collect(),
            _ => chains.iter().flat_map(around).collect(),
        };
        for chain in &chains {
            let mut retries = 0;
            let mut node = Some(chain);
            while let Some(call) = node {
                retries += ATTEMPTS[call.function] - 1;
                node = call.children.first().map(|child| &child.node);
            }
            for (ended, calls) in [made(chain), expected(chain, true), expected(chain, false)] {
                assert_eq!(ended, Err(ErrorKind::ConnectionReset));
                assert_eq!(calls.len(), depth);
                assert_eq!(calls.last(), Some(&(1 + retries)), "{chain:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_trees_of_calls_make_the_calls_that_the_rule_allows(tree in tree()) {
        let (ended, calls) = expected(&tree, true);
        // A call that succeeds takes back its own retries. The rule does not say if it passes on the retries of
        // other functions that it remembers, so the test accepts both.
        prop_assume!(expected(&tree, false) == (ended, calls.clone()));
        prop_assert_eq!(made(&tree), (ended, calls));
    }
}
