//! Trees of calls, and a plain model of how often the rule for nested retries allows each call.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::ErrorKind;

/// One place in the program that calls an annotated function: its body, and how it ends.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The index of the annotated function in [`ATTEMPTS`].
    pub(crate) function: usize,
    pub(crate) children: Vec<Child>,
    /// Whether the body calls the children at the same time.
    pub(crate) joined: bool,
    pub(crate) ending: Ending,
    /// How often the body ran.
    pub(crate) calls: Cell<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub(crate) node: Node,
    /// Whether its error ends the body.
    pub(crate) propagates: bool,
}

/// How a body ends if no error of its children ends it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    /// Succeeds after this many failures.
    SucceedsAfter(u32),
    Fails,
    /// Fails once with a retryable error, then with an error that is not retryable.
    FailsForGood,
}

/// The attempts of the functions in `nested_trees.rs`.
pub(crate) const ATTEMPTS: [u32; 4] = [2, 3, 4, 5];

impl Node {
    pub(crate) fn forget_calls(&self) {
        self.calls.set(0);
        for child in &self.children {
            child.node.forget_calls();
        }
    }

    /// How often each body ran, in the order of the tree.
    pub(crate) fn all_calls(&self) -> Vec<u32> {
        let below = self
            .children
            .iter()
            .flat_map(|child| child.node.all_calls());
        [self.calls.get()].into_iter().chain(below).collect()
    }

    /// Counts a call of the body, and returns how it ends.
    pub(crate) fn end(&self, call: u32) -> Result<(), ErrorKind> {
        match self.ending {
            Ending::SucceedsAfter(times) if call > times => Ok(()),
            Ending::FailsForGood if call > 1 => Err(ErrorKind::NotFound),
            _ => Err(ErrorKind::ConnectionReset),
        }
    }

    pub(crate) fn begin(&self) -> u32 {
        let call = self.calls.get() + 1;
        self.calls.set(call);
        assert!(call < 10_000, "no end of calls");
        call
    }
}

/// The number of retries in vain, by function.
type Retries = BTreeMap<usize, u32>;

/// What a call remembers.
#[derive(Default)]
struct Frame {
    /// The retries in its earlier attempts.
    earlier: Retries,
    /// The retries in its current attempt. Of each function, the call with the most retries counts.
    current: Retries,
}

impl Frame {
    fn note(&mut self, function: usize, retries: u32) {
        let most = self.current.entry(function).or_default();
        *most = retries.max(*most);
    }

    fn turn(&mut self) {
        for (function, retries) in std::mem::take(&mut self.current) {
            *self.earlier.entry(function).or_default() += retries;
        }
    }
}

pub(crate) struct Model {
    hands_on_after_success: bool,
    /// The calls that are running, the outermost first.
    frames: Vec<Frame>,
}

impl Model {
    pub(crate) fn new(hands_on_after_success: bool) -> Self {
        Self {
            hands_on_after_success,
            frames: Vec::new(),
        }
    }

    pub(crate) fn call(&mut self, node: &Node) -> Result<(), ErrorKind> {
        let in_vain = |frame: &Frame| frame.earlier.get(&node.function).copied();
        let in_vain: u32 = self.frames.iter().filter_map(in_vain).sum();
        let allowed = ATTEMPTS[node.function].saturating_sub(in_vain).max(1);
        self.frames.push(Frame::default());
        let mut retries = 0;
        let ended = loop {
            match self.body(node) {
                Err(ErrorKind::ConnectionReset) if retries + 1 < allowed => {
                    retries += 1;
                    self.frames.last_mut().unwrap().turn();
                }
                ended => break ended,
            }
        };
        let mut frame = self.frames.pop().unwrap();
        frame.turn();
        if let Some(around) = self.frames.last_mut() {
            if ended.is_err() {
                around.note(node.function, retries);
            }
            if ended.is_err() || self.hands_on_after_success {
                for (function, retries) in frame.earlier {
                    around.note(function, retries);
                }
            }
        }
        ended
    }

    fn body(&mut self, node: &Node) -> Result<(), ErrorKind> {
        let number = node.begin();
        let mut first = Ok(());
        for child in &node.children {
            let ended = self.call(&child.node);
            if child.propagates && ended.is_err() {
                first = first.and(ended);
                if !node.joined {
                    break;
                }
            }
        }
        first?;
        node.end(number)
    }
}
