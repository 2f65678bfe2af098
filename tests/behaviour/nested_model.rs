//! Trees of calls, and a plain model of how often the rule for nested retries allows each call.
//!
//! The model has a clock in milliseconds, because calls are dropped: by the body around them, as in `select!`, or by the
//! timeout of an outer call.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::ErrorKind;

/// An annotated function in `nested_trees.rs`. Its wait is constant. Times are in milliseconds.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) attempts: u32,
    pub(crate) wait: u64,
    pub(crate) max_delay: u64,
    pub(crate) timeout: Option<u64>,
}

const NEVER: u64 = u64::MAX;
const HOUR: u64 = 60 * 60 * 1000;

#[rustfmt::skip]
pub(crate) const FUNCTIONS: [Function; 11] = [
    Function { attempts: 2, wait: 1, max_delay: HOUR, timeout: None },
    Function { attempts: 3, wait: 300, max_delay: HOUR, timeout: None },
    Function { attempts: 4, wait: 20, max_delay: HOUR, timeout: None },
    Function { attempts: 5, wait: 1, max_delay: HOUR, timeout: None },
    // These forget soon.
    Function { attempts: 3, wait: 2, max_delay: 2, timeout: None },
    Function { attempts: 4, wait: 50, max_delay: 400, timeout: None },
    // These cut their attempts. The last one is `Policy::run`.
    Function { attempts: 2, wait: 1, max_delay: HOUR, timeout: Some(100) },
    Function { attempts: 4, wait: 30, max_delay: HOUR, timeout: Some(260) },
    Function { attempts: 3, wait: 10, max_delay: HOUR, timeout: Some(700) },
    // These are `blocking`.
    Function { attempts: 2, wait: 0, max_delay: HOUR, timeout: None },
    Function { attempts: 4, wait: 0, max_delay: HOUR, timeout: None },
];

/// One place in the program that calls an annotated function: its body, and how it ends.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The index of the annotated function in [`FUNCTIONS`].
    pub(crate) function: usize,
    pub(crate) children: Vec<Child>,
    /// Whether the body calls the children at the same time.
    pub(crate) joined: bool,
    /// How long the body is pending after its children.
    pub(crate) takes: u64,
    pub(crate) ending: Ending,
    /// How often the body ran.
    pub(crate) calls: Cell<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub(crate) node: Node,
    /// Whether its error ends the body.
    pub(crate) propagates: bool,
    /// When the body drops it, unless it has ended. The body then goes on with a retryable error.
    pub(crate) dropped_after: Option<u64>,
    /// Whether the call runs in `propagate`.
    pub(crate) carried: bool,
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

/// What a tree of calls did: how it ended, when, and how often each body ran.
#[derive(Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) ended: Result<(), ErrorKind>,
    pub(crate) elapsed: u64,
    pub(crate) calls: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct FailedRetries {
    retries: u32,
    /// Each of them is remembered until here.
    at_least_until: u64,
    /// None of them is remembered from here on. The rule does not say if retries are forgotten one by one or together.
    at_most_until: u64,
}

impl FailedRetries {
    fn merge(&mut self, other: Self) {
        self.retries += other.retries;
        self.at_least_until = self.at_least_until.min(other.at_least_until);
        self.at_most_until = self.at_most_until.max(other.at_most_until);
    }
}

/// Failed retries, by operation: the node, because each body makes the same calls in the same order until it ends.
type Retries = BTreeMap<*const Node, FailedRetries>;

#[derive(Default)]
struct Frame {
    /// How many retries of the call have begun.
    retries: u32,
    earlier: Retries,
    current: Retries,
}

/// The call was dropped.
struct Dropped;

pub(crate) struct Model {
    hands_on_after_success: bool,
    now: u64,
    /// The rule does not say what happens: two things happen at the same instant, or retries may be forgotten.
    unsaid: bool,
    /// The calls that are running, the outermost first. In a carried call, only those within.
    frames: Vec<Frame>,
    /// Whether the calls have one attempt each, because they are carried within a later attempt.
    spent: bool,
}

impl Model {
    /// What the tree does by the rule, or `None` if the rule does not say it.
    ///
    /// A call that succeeds takes back its own retries. The rule does not say if it passes on the retries of other
    /// operations that it remembers.
    pub(crate) fn run(tree: &Node, hands_on_after_success: bool) -> Option<Done> {
        tree.forget_calls();
        let mut model = Self {
            hands_on_after_success,
            now: 0,
            unsaid: false,
            frames: Vec::new(),
            spent: false,
        };
        let Ok(ended) = model.call(tree, NEVER) else {
            panic!("nothing drops the outermost call")
        };
        let (elapsed, calls) = (model.now, tree.all_calls());
        let done = Done {
            ended,
            elapsed,
            calls,
        };
        (!model.unsaid).then_some(done)
    }

    /// Makes a call, which is dropped at the instant `dropped_at` if it still runs.
    fn call(&mut self, node: &Node, dropped_at: u64) -> Result<Result<(), ErrorKind>, Dropped> {
        let function = &FUNCTIONS[node.function];
        self.frames.push(Frame::default());
        let mut last_began = self.now;
        let ended = loop {
            let cut_at = self.after(function.timeout);
            let limit = self.first(cut_at, dropped_at);
            let ended = match self.body(node, limit) {
                Err(Dropped) if cut_at < dropped_at => Err(ErrorKind::TimedOut),
                Err(Dropped) => break Err(Dropped),
                Ok(ended) => ended,
            };
            let retryable = ended.is_err_and(|kind| kind != ErrorKind::NotFound);
            if !retryable || !self.has_attempts_left(node) {
                break Ok(ended);
            }
            if self.pass(function.wait, dropped_at).is_err() {
                break Err(Dropped);
            }
            last_began = self.now;
            self.frame().retries += 1;
            self.turn();
        };
        self.turn();
        let frame = self.frames.pop().unwrap();
        let succeeded = matches!(ended, Ok(Ok(())));
        if !succeeded {
            let made_at = if ended.is_ok() { self.now } else { last_began };
            let own = FailedRetries {
                retries: frame.retries,
                at_least_until: made_at + function.max_delay,
                at_most_until: self.now + function.max_delay,
            };
            self.note(node, own);
        }
        if !succeeded || self.hands_on_after_success {
            for (operation, failed) in frame.earlier {
                self.note(operation, failed);
            }
        }
        ended
    }

    fn body(&mut self, node: &Node, dropped_at: u64) -> Result<Result<(), ErrorKind>, Dropped> {
        let number = node.begin();
        let mut first = Ok(());
        let (began, mut last) = (self.now, Ok(self.now));
        for child in &node.children {
            if node.joined {
                self.now = began;
            }
            let ended = self.child(child, dropped_at);
            let Ok(ended) = ended else {
                last = Err(Dropped);
                if node.joined {
                    continue;
                }
                break;
            };
            last = last.map(|last| self.now.max(last));
            if child.propagates && ended.is_err() {
                first = first.and(ended);
                if !node.joined {
                    break;
                }
            }
        }
        let Ok(last) = last else {
            self.now = dropped_at;
            return Err(Dropped);
        };
        self.now = last;
        if first.is_err() {
            return Ok(first);
        }
        self.pass(node.takes, dropped_at)?;
        Ok(node.end(number))
    }

    fn child(&mut self, child: &Child, dropped_at: u64) -> Result<Result<(), ErrorKind>, Dropped> {
        let by_body = self.after(child.dropped_after);
        let limit = self.first(by_body, dropped_at);
        let hidden = child.carried.then(|| {
            let hidden = (std::mem::take(&mut self.frames), self.spent);
            self.spent |= hidden.0.iter().any(|frame| frame.retries > 0);
            hidden
        });
        let ended = self.call(&child.node, limit);
        if let Some((frames, spent)) = hidden {
            (self.frames, self.spent) = (frames, spent);
        }
        match ended {
            Err(Dropped) if by_body < dropped_at => Ok(Err(ErrorKind::ConnectionReset)),
            ended => ended,
        }
    }

    /// Lets time pass, unless the call is dropped before.
    fn pass(&mut self, time: u64, dropped_at: u64) -> Result<(), Dropped> {
        let end = self.now + time;
        self.now = self.first(end, dropped_at);
        if end < dropped_at {
            Ok(())
        } else {
            Err(Dropped)
        }
    }

    fn after(&self, time: Option<u64>) -> u64 {
        time.map_or(NEVER, |time| self.now + time)
    }

    fn first(&mut self, one: u64, other: u64) -> u64 {
        self.unsaid |= one == other && one != NEVER;
        one.min(other)
    }

    /// Whether the innermost call, which is that of this node, may make another attempt.
    fn has_attempts_left(&mut self, node: &Node) -> bool {
        let made = self.frame().retries + 1;
        if self.spent {
            return false;
        }
        let around = &self.frames[..self.frames.len() - 1];
        let failed = || {
            around
                .iter()
                .filter_map(|frame| frame.earlier.get(&std::ptr::from_ref(node)))
        };
        let sum =
            |all: &mut dyn Iterator<Item = &FailedRetries>| all.map(|one| one.retries).sum::<u32>();
        let least = sum(&mut failed().filter(|one| one.at_least_until > self.now));
        let most = if failed().any(|one| one.at_most_until >= self.now) {
            sum(&mut failed())
        } else {
            0
        };
        let [some_left, left] = [least, most].map(|failed| {
            let allowed = FUNCTIONS[node.function].attempts.saturating_sub(failed);
            made < allowed.max(1)
        });
        self.unsaid |= some_left != left;
        left
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().unwrap()
    }

    /// Reports retries in the current attempt to the outer call.
    fn note(&mut self, operation: *const Node, made: FailedRetries) {
        if let (Some(around), true) = (self.frames.last_mut(), made.retries > 0) {
            let known = around.current.insert(operation, made);
            assert!(known.is_none(), "each attempt makes a call once");
        }
    }

    /// The innermost call ends its attempt.
    fn turn(&mut self) {
        let frame = self.frame();
        for (operation, made) in std::mem::take(&mut frame.current) {
            match frame.earlier.get_mut(&operation) {
                Some(known) => known.merge(made),
                None => {
                    frame.earlier.insert(operation, made);
                }
            }
        }
    }
}
