//! What the calls in a test scope share: the settings of the scope, private budgets, and the log.
//!
//! Without the feature `testing`, no scope can be made.

#[cfg(feature = "testing")]
mod fault;

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(feature = "testing")]
pub use self::fault::Fault;
use crate::atomics::Flag;
use crate::budget::{BudgetCell, BudgetRef};
use crate::classify::Verdict;
use crate::delays::DelayRange;
use crate::policy::Policy;
use crate::report::Report;
use crate::rng;

/// One run of a test scope.
#[derive(Debug, Default)]
pub(crate) struct TestScope {
    pub(crate) seed: u64,
    /// The most attempts of a call, or `None` for no limit.
    pub(crate) attempts: Option<u32>,
    /// Whether calls wait.
    pub(crate) waits: bool,
    /// Whether retries are off.
    pub(crate) disabled: Flag,
    pub(crate) state: Mutex<ScopeState>,
}

#[derive(Debug, Default)]
pub(crate) struct ScopeState {
    /// How many calls of each function began.
    began: HashMap<&'static str, u32>,
    /// The copies of the cells of budgets, by the id of the original.
    cells: HashMap<u64, Arc<BudgetCell>>,
    /// The policies of presets that are not those in the code, by the address of the preset.
    pub(crate) presets: HashMap<usize, Policy>,
    pub(crate) ended: Vec<LoggedCall>,
    /// The faults that attempts have in place of their body, in order.
    #[cfg(feature = "testing")]
    pub(crate) faults: Vec<Fault>,
}

/// A call that ended in a test scope.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCall {
    pub(crate) report: Report,
    pub(crate) kept: KeptForLog,
}

/// What a test scope gives to one of its calls.
#[derive(Debug)]
pub(crate) struct CallInScope {
    pub(crate) scope: Arc<TestScope>,
    function: &'static str,
    /// The number of this call among the calls of the function in this scope, from 0.
    ordinal: u32,
    /// The copy of the cell of the call's budget, which starts fresh.
    pub(crate) cell: Option<Arc<BudgetCell>>,
    /// The copy of the cell of the function's hedges, which starts full.
    pub(crate) hedges: Arc<BudgetCell>,
    kept: Mutex<KeptForLog>,
}

/// What a test scope keeps of a call until it ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KeptForLog {
    /// All delays.
    pub(crate) delays: Vec<Duration>,
    /// The verdicts of attempts that failed.
    pub(crate) verdicts: Vec<Verdict>,
    /// Their errors, as events show them.
    #[cfg(feature = "testing")]
    pub(crate) errors: Vec<String>,
}

/// Whether this is the whole name of a function, or the last parts of it.
#[cfg(feature = "testing")]
pub(crate) fn is_named(function: &str, name: &str) -> bool {
    let rest = function.strip_suffix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

impl TestScope {
    /// Counts a call of `function` that begins with this budget and this one for hedges.
    pub(crate) fn enter(
        self: &Arc<Self>,
        function: &'static str,
        budget: Option<BudgetRef<'_>>,
        hedges: BudgetRef<'_>,
    ) -> CallInScope {
        let ScopeState { began, cells, .. } = &mut *self.state();
        let began = began.entry(function).or_default();
        let ordinal = *began;
        *began = began.saturating_add(1);
        let mut copy = |budget: BudgetRef<'_>| {
            let own = cells.entry(budget.id());
            Arc::clone(own.or_insert_with(|| Arc::new(budget.fresh())))
        };
        CallInScope {
            scope: Arc::clone(self),
            function,
            ordinal,
            cell: budget.map(&mut copy),
            hedges: copy(hedges),
            kept: Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ScopeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallInScope {
    /// Draws the delay before a retry, after `number` attempts. The delay depends only on the seed, the function, and
    /// the ordinal of the call, so concurrent calls do not change it.
    pub(crate) fn draw(&self, number: u32, range: DelayRange) -> Duration {
        let place = (self.scope.seed, self.function, self.ordinal, number);
        rng::draw(rng::seed_of(place), range)
    }

    /// Logs the call, which has ended.
    pub(crate) fn log(&self, report: Report) {
        let kept = mem::take(&mut *self.seen());
        self.scope.state().ended.push(LoggedCall { report, kept });
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, KeptForLog> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
