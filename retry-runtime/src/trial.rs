//! What the calls in a test scope share: the settings of the scope, private budgets, and the log.
//!
//! This module is always compiled, but only `testing` makes a trial. Without that feature no call is ever in a trial,
//! and [`is_possible`] tells the compiler so.

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::atomics::Switch;
use crate::budget::{BudgetOfCall, BudgetWord, Share};
use crate::classify::Verdict;
use crate::policy::Policy;
use crate::report::Report;
use crate::rng;

/// One run of a test scope.
pub(crate) struct Trial {
    pub(crate) seed: u64,
    /// The most attempts of a call, or `None` for no limit.
    pub(crate) attempts: Option<u32>,
    /// Whether calls wait.
    pub(crate) waits: bool,
    /// Whether retries are on.
    pub(crate) enabled: Switch,
    /// The sources of the configuration that turned retries off here, while they are off.
    #[cfg(feature = "config")]
    pub(crate) off_by: OffBy,
    shared: Mutex<TrialState>,
}

/// The addresses of the presets of the source that turned retries off, while they are off.
#[cfg(feature = "config")]
pub(crate) type OffBy = Mutex<Option<Vec<usize>>>;

#[derive(Default)]
struct TrialState {
    /// How many calls of each function began.
    began: HashMap<&'static str, u32>,
    /// The copies of the words of budgets, by the id of the original.
    words: HashMap<u64, Arc<BudgetWord>>,
    /// The shares of functions, by the address of the original.
    shares: HashMap<usize, Arc<Share>>,
    /// The policies of presets that are not those in the code, by the address of the preset.
    presets: HashMap<usize, Policy>,
    ended: Vec<LoggedCall>,
}

/// A call that ended in a test scope.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    not(feature = "testing"),
    expect(unreachable_pub, reason = "only `testing` exports it")
)]
pub struct LoggedCall {
    pub(crate) report: Report,
    pub(crate) delays: Vec<Duration>,
    pub(crate) verdicts: Vec<Verdict>,
}

/// One call in a trial.
#[derive(Debug)]
pub(crate) struct InTrial {
    pub(crate) trial: Arc<Trial>,
    function: &'static str,
    /// The number of this call among the calls of the function in this trial, from 0.
    ordinal: u32,
    pub(crate) delays: Vec<Duration>,
    pub(crate) verdicts: Vec<Verdict>,
}

/// Whether a call can be in a trial at all, in this program.
#[inline]
pub(crate) const fn is_possible() -> bool {
    cfg!(feature = "testing")
}

impl Trial {
    #[cfg(feature = "testing")]
    pub(crate) fn new(seed: u64, attempts: Option<u32>, waits: bool, enabled: bool) -> Self {
        Self {
            seed,
            attempts,
            waits,
            enabled: Switch::new(enabled),
            #[cfg(feature = "config")]
            off_by: Mutex::default(),
            shared: Mutex::default(),
        }
    }

    /// Sets the policy of the preset at this address for the calls in this trial that begin from now on. `None` is the
    /// policy in the code.
    #[cfg(any(feature = "config", feature = "testing"))]
    pub(crate) fn set_policy(&self, preset: usize, policy: Option<Policy>) {
        let mut shared = self.shared();
        match policy {
            Some(policy) => shared.presets.insert(preset, policy),
            None => shared.presets.remove(&preset),
        };
    }

    /// Counts a call of `function` that begins.
    pub(crate) fn enter(self: &Arc<Self>, function: &'static str) -> InTrial {
        let mut shared = self.shared();
        let began = shared.began.entry(function).or_default();
        let ordinal = *began;
        *began = began.saturating_add(1);
        InTrial {
            trial: Arc::clone(self),
            function,
            ordinal,
            delays: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// Returns the policy of the preset at this address, unless it is the one in the code.
    pub(crate) fn policy(&self, preset: usize) -> Option<Policy> {
        self.shared().presets.get(&preset).copied()
    }

    /// Returns the word of `budget` for the calls in this trial, which starts fresh.
    pub(crate) fn fresh_word(&self, budget: BudgetOfCall<'_>) -> Arc<BudgetWord> {
        let mut shared = self.shared();
        let own = shared.words.entry(budget.id());
        Arc::clone(own.or_insert_with(|| Arc::new(budget.fresh())))
    }

    /// Returns the share of hedges for the calls in this trial of the function with this share. It starts full.
    pub(crate) fn fresh_share(&self, share: &'static Share) -> Arc<Share> {
        let mut shared = self.shared();
        let own = shared.shares.entry(std::ptr::from_ref(share).addr());
        Arc::clone(own.or_insert_with(|| Arc::new(Share::full())))
    }

    /// Takes the calls that ended so far.
    #[cfg(feature = "testing")]
    pub(crate) fn take(&self) -> Vec<LoggedCall> {
        std::mem::take(&mut self.shared().ended)
    }

    fn shared(&self) -> MutexGuard<'_, TrialState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InTrial {
    /// Draws the delay before a retry, after `number` attempts. The delay depends only on the seed, the function, and
    /// the ordinal of the call, so concurrent calls do not change it.
    pub(crate) fn draw(&mut self, number: u32, range: &RangeInclusive<Duration>) -> Duration {
        let place = (self.trial.seed, self.function, self.ordinal, number);
        let delay = rng::seeded_duration_in(place, range);
        self.delays.push(delay);
        delay
    }

    /// Logs the call, which has ended.
    pub(crate) fn end(self, report: Report) {
        let Self {
            trial,
            delays,
            verdicts,
            ..
        } = self;
        trial.shared().ended.push(LoggedCall {
            report,
            delays,
            verdicts,
        });
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            attempts,
            waits,
            enabled,
            ..
        } = self;
        f.debug_struct("Trial")
            .field("seed", seed)
            .field("attempts", attempts)
            .field("waits", waits)
            .field("enabled", &enabled.is_on())
            .finish_non_exhaustive()
    }
}
