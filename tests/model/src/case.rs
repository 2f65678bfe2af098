//! A case: the functions, a script for the innermost body, and what is seen of them. Times are in nanoseconds.

pub(crate) const fn ms(millis: u64) -> u64 {
    millis * 1_000_000
}
pub(crate) const NEVER: u64 = u64::MAX;
pub(crate) const BASE: u64 = ms(10);
/// So many events are those of a call that never ends: a rule that retries everything, with progress.
pub(crate) const ENDLESS: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    Transient,
    Throttled,
    Refused,
    Conflict,
    Permanent,
    Unknown,
}

/// One run of the innermost body: how long it is pending, and how it ends. An error may have a hint. An `Ok` may be `unfit`: a
/// call that asks calls it a failure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub takes: u64,
    pub error: Option<(Verdict, Option<u64>)>,
    pub unfit: bool,
    pub progress: bool,
}

/// What the body of the outer call does with an error of the inner one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Around {
    Returns,
    WaitsFirst,
    SaysProgress,
    /// Returns another, transient error in its place.
    Hides,
    /// Makes the inner call in a future that `propagate` carries.
    Carries,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Nested {
    Add,
    Outermost,
    Multiply,
}

/// Which keys rule on an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// Its verdict.
    Nothing,
    /// `when`, which says yes to a permanent error.
    When,
    /// `on` names the error type.
    On,
    /// `when` as above, and `unless`, which says no to a throttled one and to a timeout.
    Unless,
}

/// Which key asks about an `Ok`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Asks {
    Nothing,
    WhenOk,
    Until,
}

/// The settings of one function. `budget` is an index, and `policy` says whether a policy has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub attempts: u32,
    pub timeout: Option<u64>,
    pub deadline: Option<u64>,
    pub hedge: Option<u64>,
    pub jitter: bool,
    pub idempotent: Option<bool>,
    pub blocking: bool,
    pub budget: Option<usize>,
    pub nested: Nested,
    pub asks: Asks,
    /// Only functions with a policy have it, and none that ask.
    pub rule: Rule,
    /// How long `before_retry` takes, and after which attempt it fails. Only functions that ask have it; without this, it does
    /// nothing.
    pub before: Option<(u64, u32)>,
    /// When `cancel` completes. Only functions with `until` have it.
    pub cancel: Option<u64>,
    pub policy: bool,
    pub max_delay: u64,
    pub max_retry_after: u64,
}

impl Settings {
    /// Whether its error type must be able to hold a `Stopped`.
    pub(crate) fn is_limited(&self) -> bool {
        self.policy || self.timeout.is_some() || self.deadline.is_some() || self.asks == Asks::Until
    }

    /// Whether a function with these settings has a policy in this form. Those that ask have only one other key.
    pub(crate) fn with_policy(self, keys: bool) -> Self {
        let plain = self.timeout.is_none() && self.deadline.is_none() && self.hedge.is_none();
        let policy = !keys || self.rule != Rule::Nothing || self.asks != Asks::Nothing && !plain;
        Self { policy, ..self }
    }
}

/// The calls, the outermost first. What each budget holds, in thousandths, whether all have a pause, and whether their first wave is
/// free. Whether a `before_retry` makes the inner call too. The event at which retries are turned off. How much longer a thread
/// sleeps than it is asked to.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub calls: Vec<Settings>,
    pub around: Around,
    pub capacities: Vec<u64>,
    pub pauses: bool,
    pub free: bool,
    pub prepares: bool,
    pub off_at: usize,
    pub late: u64,
    pub steps: Vec<Step>,
}

/// What the bodies and `on_retry` see. A call is named by its depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Event {
    Begins {
        depth: usize,
        number: u32,
        of: u32,
        remaining: Option<u64>,
        at: u64,
    },
    Gone {
        depth: usize,
        number: u32,
        at: u64,
    },
    Prepares {
        depth: usize,
        at: u64,
    },
    Retries {
        depth: usize,
        after: u32,
        verdict: Verdict,
        delay: u64,
        at: u64,
    },
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    pub depth: usize,
    pub outcome: &'static str,
    pub attempts: u32,
    pub elapsed: u64,
    pub waited: u64,
    pub verdict: Option<Verdict>,
    pub hedge: Option<&'static str>,
    pub level: Option<u64>,
}

/// An error: which run of the innermost body returned it, or was the last to return one before a `Stopped`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Failed {
    pub verdict: Verdict,
    pub hint: Option<u64>,
    pub run: Option<usize>,
    pub stopped: Option<&'static str>,
    pub timed_out: bool,
}

/// What is seen of a case. There is no result if the call was dropped.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub events: Vec<Event>,
    pub reports: Vec<Report>,
    pub result: Option<Result<usize, Failed>>,
}
