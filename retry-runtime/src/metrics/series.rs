//! The names and labels of what is recorded.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ::metrics::{Key, Label, Recorder, Unit};

use super::Attempted;
use crate::atomics::Flag;
use crate::classify::Verdict;
use crate::report::Hedge;
use crate::stopped::Outcome;

const CALLS: &str = "reattempt_calls_total";
const ATTEMPTS: &str = "reattempt_attempts_total";
const RETRIES: &str = "reattempt_retries";
const DELAY: &str = "reattempt_delay_seconds";
const SECONDS: &str = "reattempt_call_seconds";
const BUDGET: &str = "reattempt_budget_level";
const HEDGES: &str = "reattempt_hedges_total";

/// The keys of one function: one for each of its series.
#[derive(Debug)]
pub(super) struct Series {
    calls: [(Outcome, Key); 12],
    attempts: [(Attempted, Key); 8],
    pub(super) retries: Key,
    pub(super) delay: Key,
    pub(super) seconds: Key,
    pub(super) budget: Key,
    hedges: [(Hedge, Key); 3],
    /// Whether the names were described to a recorder.
    described: Flag,
}

impl Series {
    /// Returns the keys of a function. They are made once and never dropped: their number is that of the functions'
    /// names.
    pub(super) fn of(function: &'static str) -> &'static Self {
        static ALL: RwLock<Option<HashMap<&'static str, &'static Series>>> = RwLock::new(None);
        let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
        let known = all.as_ref().and_then(|all| all.get(function)).copied();
        drop(all);
        known.unwrap_or_else(|| {
            let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
            all.get_or_insert_default()
                .entry(function)
                .or_insert_with(|| Box::leak(Box::new(Self::new(function))))
        })
    }

    fn new(function: &'static str) -> Self {
        use Attempted::{Failed, Succeeded, Unfinished};
        let key = |name, labels: &[(&'static str, &'static str)]| {
            let labels = labels
                .iter()
                .map(|&(key, value)| Label::from_static_parts(key, value));
            let own = Label::from_static_parts("function", function);
            Key::from_parts(name, std::iter::once(own).chain(labels).collect::<Vec<_>>())
        };
        Self {
            calls: [
                Outcome::Success,
                Outcome::SuccessAfterRetry,
                Outcome::NotRetryable,
                Outcome::AttemptsExhausted,
                Outcome::Timeout,
                Outcome::Deadline,
                Outcome::Budget,
                Outcome::HintTooLong,
                Outcome::Paused,
                Outcome::Disabled,
                Outcome::Cancelled,
                Outcome::Dropped,
            ]
            .map(|outcome| (outcome, key(CALLS, &[("outcome", outcome.as_str())]))),
            attempts: [
                Succeeded,
                Failed(Verdict::Transient),
                Failed(Verdict::Throttled),
                Failed(Verdict::Refused),
                Failed(Verdict::Conflict),
                Failed(Verdict::Permanent),
                Failed(Verdict::Unknown),
                Unfinished,
            ]
            .map(|how| (how, key(ATTEMPTS, &[("verdict", how.as_str())]))),
            retries: key(RETRIES, &[]),
            delay: key(DELAY, &[]),
            seconds: key(SECONDS, &[]),
            budget: key(BUDGET, &[]),
            hedges: [Hedge::Won, Hedge::Lost, Hedge::Refused]
                .map(|hedge| (hedge, key(HEDGES, &[("result", hedge.as_str())]))),
            described: Flag::new(),
        }
    }

    /// Describes the unit and the meaning of each name to a recorder, once for each function. A recorder without
    /// fields is skipped: it may be the one that records nothing, and the real one would then miss the description.
    pub(super) fn describe_to(&self, recorder: &dyn Recorder) {
        if size_of_val(recorder) > 0 && self.described.is_down() && self.described.raise() {
            describe(recorder);
        }
    }

    pub(super) fn calls(&self, outcome: Outcome) -> &Key {
        find(&self.calls, outcome)
    }

    pub(super) fn attempts(&self, how: Attempted) -> &Key {
        find(&self.attempts, how)
    }

    pub(super) fn hedges(&self, hedge: Hedge) -> &Key {
        find(&self.hedges, hedge)
    }
}

/// Returns the key of a word. Each word is in its table, which a test checks.
fn find<W: PartialEq + Copy>(keys: &[(W, Key)], word: W) -> &Key {
    let found = keys.iter().find(|(own, _)| *own == word);
    &found.unwrap_or(&keys[0]).1
}

fn describe(recorder: &dyn Recorder) {
    let calls = "calls that ended, by outcome";
    recorder.describe_counter(CALLS.into(), Some(Unit::Count), calls.into());
    let attempts = "attempts that ended, by verdict";
    recorder.describe_counter(ATTEMPTS.into(), Some(Unit::Count), attempts.into());
    let retries = "retries of a call";
    recorder.describe_histogram(RETRIES.into(), Some(Unit::Count), retries.into());
    let delay = "the delay before a retry";
    recorder.describe_histogram(DELAY.into(), Some(Unit::Seconds), delay.into());
    let seconds = "how long a call took, waits included";
    recorder.describe_histogram(SECONDS.into(), Some(Unit::Seconds), seconds.into());
    let budget = "tokens left in the budget when a call ended";
    recorder.describe_gauge(BUDGET.into(), None, budget.into());
    let hedges = "calls that wanted a hedge, by what became of it";
    recorder.describe_counter(HEDGES.into(), Some(Unit::Count), hedges.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_label(key: &Key) -> (&str, &str) {
        let label = key.labels().last().expect("a label");
        (label.key(), label.value())
    }

    #[test]
    fn each_word_has_its_key() {
        let series = Series::of("f");
        for (outcome, _) in &series.calls {
            let key = series.calls(*outcome);
            assert_eq!(last_label(key), ("outcome", outcome.as_str()));
        }
        for (how, _) in &series.attempts {
            let key = series.attempts(*how);
            assert_eq!(last_label(key), ("verdict", how.as_str()));
        }
        for (hedge, _) in &series.hedges {
            let key = series.hedges(*hedge);
            assert_eq!(last_label(key), ("result", hedge.as_str()));
        }
        // A new word has to come into the table: without this line it does not compile.
        let known = |outcome: Outcome| match outcome {
            Outcome::Success
            | Outcome::SuccessAfterRetry
            | Outcome::NotRetryable
            | Outcome::AttemptsExhausted
            | Outcome::Timeout
            | Outcome::Deadline
            | Outcome::Budget
            | Outcome::HintTooLong
            | Outcome::Paused
            | Outcome::Disabled
            | Outcome::Cancelled
            | Outcome::Dropped => true,
        };
        assert!(series.calls.iter().all(|(outcome, _)| known(*outcome)));
        assert_eq!(series.calls.len(), 12);
        // The number of `src/guide/seeing.md`, with the four that have no word.
        assert_eq!(series.calls.len() + series.attempts.len() + 4, 24);
    }
}
