//! The numbers of `/metrics`, and what the page and the dashboard have to make of them.

use std::collections::{BTreeMap, BTreeSet};

/// The counters of calls by outcome.
pub(crate) const CALLS: &str = "reattempt_calls_total";
/// The counters of attempts by verdict.
pub(crate) const ATTEMPTS: &str = "reattempt_attempts_total";

pub(crate) type Labels = BTreeMap<String, String>;

/// The value of each series, by its name and its labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbers(BTreeMap<(String, Labels), f64>);

/// How calls end that did not fail.
pub(crate) const NO_FAILURES: [&str; 4] =
    ["success", "success_after_retry", "cancelled", "dropped"];

impl Numbers {
    /// Reads the text of `/metrics`. Every series in it has labels, and none of their values has a comma.
    pub(crate) fn parse(text: &str) -> Self {
        let series = text.lines().filter_map(|line| {
            let (name, rest) = line.split_once('{')?;
            let (labels, value) = rest.rsplit_once("} ")?;
            let labels = labels.split(',').filter_map(|label| {
                let (name, value) = label.split_once('=')?;
                Some((name.to_owned(), value.trim_matches('"').to_owned()))
            });
            Some(((name.to_owned(), labels.collect()), value.parse().ok()?))
        });
        Self(series.collect())
    }

    /// Adds a series.
    pub(crate) fn insert(&mut self, name: &str, labels: Labels, value: f64) {
        self.0.insert((name.to_owned(), labels), value);
    }

    /// How much each series has grown since then.
    pub(crate) fn since(&self, then: &Self) -> Self {
        let grown = self.0.iter().map(|(series, now)| {
            let before = then.0.get(series).copied().unwrap_or(0.0);
            (series.clone(), now - before)
        });
        Self(grown.collect())
    }

    /// The series that have this value of a label.
    pub(crate) fn with(&self, label: &str, value: &str) -> Self {
        let has = |(_, labels): &(String, Labels)| labels.get(label).is_some_and(|is| is == value);
        let with = self.0.iter().filter(|(series, _)| has(series));
        Self(
            with.map(|(series, value)| (series.clone(), *value))
                .collect(),
        )
    }

    pub(crate) fn of(&self, function: &str) -> Self {
        self.with("function", function)
    }

    /// The values of all series with this name.
    fn named(&self, name: &str) -> impl Iterator<Item = (&Labels, f64)> {
        let named = self.0.iter().filter(move |((is, _), _)| is == name);
        named.map(|((_, labels), value)| (labels, *value))
    }

    /// The sum of all series with this name. Zero if there is none.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        // From 0.0, because the sum of no numbers is -0.0.
        self.named(name).fold(0.0, |sum, (_, value)| sum + value)
    }

    /// The sums of the series with this name, by these labels.
    pub(crate) fn sums_by(&self, labels: &[&str], name: &str) -> BTreeMap<Labels, f64> {
        let mut sums = BTreeMap::new();
        for (all, value) in self.named(name) {
            let mut own = all.clone();
            own.retain(|label, _| labels.contains(&label.as_str()));
            *sums.entry(own).or_insert(0.0) += value;
        }
        sums
    }

    /// The values of a label in the series with this name.
    pub(crate) fn values(&self, name: &str, label: &str) -> BTreeSet<String> {
        let labels = self.named(name);
        labels
            .filter_map(|(labels, _)| labels.get(label).cloned())
            .collect()
    }

    /// How many calls ended.
    pub(crate) fn all_calls(&self) -> f64 {
        self.sum(CALLS)
    }

    /// How many calls ended in this way.
    pub(crate) fn ended(&self, outcome: &str) -> f64 {
        self.with("outcome", outcome).sum(CALLS)
    }

    /// How many calls failed: those that neither succeeded nor were stopped by their caller.
    pub(crate) fn failed(&self) -> f64 {
        let others = NO_FAILURES.map(|outcome| self.ended(outcome));
        self.all_calls() - others.iter().sum::<f64>()
    }

    /// How many attempts ended.
    pub(crate) fn attempts(&self) -> f64 {
        self.sum(ATTEMPTS)
    }

    /// How many attempts ended in this way.
    pub(crate) fn judged(&self, verdict: &str) -> f64 {
        self.with("verdict", verdict).sum(ATTEMPTS)
    }

    /// How many retries were scheduled.
    pub(crate) fn retries(&self) -> f64 {
        self.sum("reattempt_delay_seconds_count")
    }

    /// How many calls took longer than the limit of this bucket, in seconds.
    pub(crate) fn calls_above(&self, le: &str) -> f64 {
        let all = self.sum("reattempt_call_seconds_count");
        all - self.with("le", le).sum("reattempt_call_seconds_bucket")
    }

    /// The level of the budget of one function. `None` if it was never recorded.
    pub(crate) fn budget(&self) -> Option<f64> {
        let level = self.named("reattempt_budget_level").next();
        level.map(|(_, value)| value)
    }

    /// The mean of a histogram. `None` if nothing was recorded.
    pub(crate) fn mean(&self, histogram: &str) -> Option<f64> {
        let count = self.sum(&format!("{histogram}_count"));
        let sum = self.sum(&format!("{histogram}_sum"));
        (count > 0.0).then(|| sum / count)
    }

    /// A quantile of a histogram, linear within a bucket, as the documentation of `histogram_quantile` says. `None` if
    /// nothing was recorded.
    pub(crate) fn quantile(&self, q: f64, histogram: &str) -> Option<f64> {
        let name = format!("{histogram}_bucket");
        let limits = self.values(&name, "le");
        // `+Inf` is a number in Rust as well.
        let mut buckets: Vec<(f64, f64)> = limits
            .iter()
            .filter_map(|le| Some((le.parse().ok()?, self.with("le", le).sum(&name))))
            .collect();
        buckets.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // `rate` extrapolates each bucket alone, so one may come out below the bucket before it. Prometheus raises it.
        let mut most: f64 = 0.0;
        for (_, below) in &mut buckets {
            most = most.max(*below);
            *below = most;
        }
        let (_, all) = buckets.last().copied().filter(|(_, all)| *all > 0.0)?;
        let rank = q * all;
        let at = buckets.iter().position(|(_, below)| *below >= rank)?;
        let (lower, before) = match at.checked_sub(1) {
            Some(previous) => buckets[previous],
            None => (0.0, 0.0),
        };
        let (upper, below) = buckets[at];
        if upper.is_infinite() {
            return Some(lower);
        }
        Some(lower + (upper - lower) * (rank - before) / (below - before))
    }
}
