//! The numbers of `/metrics`.

use std::collections::BTreeMap;

/// The value of each series, by its name and labels.
#[derive(Debug)]
pub(crate) struct Numbers(BTreeMap<String, f64>);

impl Numbers {
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let series = lines.filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            Some((series.to_owned(), value.parse().ok()?))
        });
        Self(series.collect())
    }

    /// How many calls of a function ended in this way.
    pub(crate) fn calls(&self, function: &str, outcome: &str) -> f64 {
        let series =
            format!(r#"reattempt_calls_total{{function="{function}",outcome="{outcome}"}}"#);
        self.0.get(&series).copied().unwrap_or(0.0)
    }

    /// How many calls ended in this way, of all functions.
    pub(crate) fn ended(&self, outcome: &str) -> f64 {
        self.sum("reattempt_calls_total{", &format!(r#"outcome="{outcome}""#))
    }

    /// How many calls ended.
    pub(crate) fn all_calls(&self) -> f64 {
        self.sum("reattempt_calls_total{", "")
    }

    /// How many retries were scheduled.
    pub(crate) fn retries(&self) -> f64 {
        self.sum("reattempt_delay_seconds_count{", "")
    }

    /// The level of a function's budget.
    pub(crate) fn budget(&self, function: &str) -> f64 {
        let series = format!(r#"reattempt_budget_level{{function="{function}"}}"#);
        self.0.get(&series).copied().unwrap_or(f64::NAN)
    }

    /// The functions and outcomes that were counted.
    pub(crate) fn counted(&self) -> Vec<(String, String)> {
        let calls = self.0.keys().filter_map(|series| {
            let labels = series.strip_prefix("reattempt_calls_total{function=\"")?;
            let (function, outcome) = labels.strip_suffix("\"}")?.split_once("\",outcome=\"")?;
            Some((function.to_owned(), outcome.to_owned()))
        });
        calls.collect()
    }

    fn sum(&self, start: &str, label: &str) -> f64 {
        let series = self.0.iter();
        let of = series.filter(|(series, _)| series.starts_with(start) && series.contains(label));
        of.map(|(_, value)| value).sum()
    }
}
