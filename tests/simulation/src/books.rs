//! What calls did, and the level that their budget must have after that: exactly, whatever failed, was cancelled or was
//! dropped.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use reattempt::{Budget, Outcome, Report};

/// The books of all calls with one [`budget`](Self::budget).
#[derive(Debug)]
pub struct Books {
    budget: Budget,
    /// The first attempts that succeeded, and the calls that asked for a retry: each gives a tenth of a token.
    gave: AtomicU64,
    /// The retries that began: each takes a token.
    took: AtomicU64,
    attempts: AtomicU64,
    outcomes: Mutex<BTreeMap<&'static str, u64>>,
}

/// One call.
#[derive(Debug, Default)]
pub struct Entry {
    attempts: AtomicU32,
    asked: AtomicBool,
}

impl Entry {
    /// An attempt begins.
    pub fn attempt(&self) {
        self.attempts.fetch_add(1, Relaxed);
    }

    /// The call has a permit for a retry.
    pub fn asked(&self) {
        self.asked.store(true, Relaxed);
    }
}

impl Books {
    /// Empty books. The budget holds a token, and no call fills it.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            budget: Budget::ratio(0.1).with_capacity(268_000),
            gave: AtomicU64::new(0),
            took: AtomicU64::new(0),
            attempts: AtomicU64::new(0),
            outcomes: Mutex::new(BTreeMap::new()),
        }
    }

    /// The budget of the calls.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Enters a call that has ended.
    ///
    /// # Panics
    ///
    /// - If its report has other attempts than its entry.
    pub fn enter(&self, entry: &Entry, report: &Report) {
        let attempts = entry.attempts.load(Relaxed);
        assert_eq!(report.attempts(), attempts, "{report}");
        let outcome = report.outcome();
        let asked = entry.asked.load(Relaxed) || outcome == Outcome::Budget;
        self.gave
            .fetch_add(u64::from(asked || outcome == Outcome::Success), Relaxed);
        self.took
            .fetch_add(u64::from(attempts.saturating_sub(1)), Relaxed);
        self.attempts.fetch_add(u64::from(attempts), Relaxed);
        let mut outcomes = self.outcomes.lock().expect("no holder panics");
        *outcomes.entry(outcome.as_str()).or_default() += 1;
    }

    /// How the calls ended, and how often.
    ///
    /// # Panics
    ///
    /// - If a call has panicked while it was entered.
    #[must_use]
    pub fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        self.outcomes.lock().expect("no holder panics").clone()
    }

    /// All attempts.
    #[must_use]
    pub fn attempts(&self) -> u64 {
        self.attempts.load(Relaxed)
    }

    /// Checks the books when no call is under way: no permit is lost, none is made, and the retries are a tenth of the calls.
    ///
    /// # Panics
    ///
    /// - If that is wrong.
    pub fn close(&self) {
        let [gave, took] = [&self.gave, &self.took].map(|count| count.load(Relaxed));
        // In thousandths, as the budget counts.
        let expected = 1_000 + 100 * gave - 1_000 * took;
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let expected = expected as f64 / 1_000.0;
        let level = self.budget.level();
        assert!(
            (level - expected).abs() < 1e-6,
            "the budget has {level}, not {expected}"
        );
        let calls: u64 = self.outcomes().values().sum();
        assert!(took <= 1 + calls / 10, "{took} retries of {calls} calls");
    }
}

impl Default for Books {
    fn default() -> Self {
        Self::new()
    }
}
