//! The tiles and tables of the page, beside what the test computes from the same answers of `/metrics` and `/status`.

use serde_json::Value;

use crate::expected::Expected::{self, Number, Text};
use crate::numbers::{CALLS, Numbers};
use crate::shown::{Meter, Read, Shown};

/// The seconds that the tiles and the table of functions are about.
const WINDOW: f64 = 10.0;

/// What happened between two scrapes.
pub(crate) struct Window {
    pub(crate) seconds: f64,
    pub(crate) grown: Numbers,
}

impl Read {
    /// What happened in the seconds until a scrape. They begin at the newest scrape that is that old, or 0.3 s less,
    /// because the page does not read exactly every second. They begin at the oldest scrape if none is that old.
    pub(crate) fn window(&self, at: usize, seconds: f64) -> Window {
        let (until, newer) = &self.scrapes[at];
        // In the order in which the page adds, so that both choose the same scrape at the limit.
        let latest = until - 1000.0 * seconds + 300.0;
        let old = |(time, _): &&(f64, Numbers)| *time <= latest;
        let (since, older) = self
            .scrapes
            .iter()
            .rev()
            .find(old)
            .unwrap_or(&self.scrapes[0]);
        Window {
            seconds: (until - since) / 1000.0,
            grown: newer.since(older),
        }
    }

    /// What happened in the last ten seconds.
    pub(crate) fn latest(&self) -> Window {
        self.window(self.scrapes.len() - 1, WINDOW)
    }

    /// The numbers since the service started.
    pub(crate) fn total(&self) -> &Numbers {
        &self.scrapes[self.scrapes.len() - 1].1
    }

    /// The names of the functions, as in the metrics.
    pub(crate) fn functions(&self) -> Vec<&str> {
        let functions = list(&self.status, "functions");
        functions.iter().map(|own| text(own, "function")).collect()
    }
}

impl Window {
    /// How many there were in a second.
    pub(crate) fn rate(&self, count: f64) -> f64 {
        if self.seconds > 0.0 {
            count / self.seconds
        } else {
            0.0
        }
    }
}

fn words(texts: &[&str]) -> Vec<Expected> {
    texts.iter().map(|text| Text((*text).to_owned())).collect()
}

/// The name of a function, without the crate, which all have in common.
pub(crate) fn short(function: &str) -> &str {
    function.strip_prefix("service::").unwrap_or(function)
}

/// Compares everything except the charts.
pub(crate) fn compare(shown: &Shown, read: &Read) {
    same("tiles", &shown.tiles, &tiles(read));
    same("functions", &shown.functions, &functions(read));
    same("outcomes", &shown.outcomes, &outcomes(read));
    same("policies", &shown.policies, &policies(&read.status));
    same(
        "texts of policies",
        &shown.policy_texts,
        &policy_texts(&read.status),
    );
    bars(shown, read);
    let load = read.status["load"].as_u64();
    let load = load.map_or("without a load generator".to_owned(), |load| {
        format!("{load} checkouts a second from its own load generator")
    });
    assert!(
        shown.about.contains(&format!(", {load}.")),
        "{}",
        shown.about
    );
    let on = read.status["retries"].as_bool().unwrap_or_default();
    assert_eq!(shown.switch_on, on.to_string());
    assert_eq!(
        shown.switch_text,
        if on { "Retries on" } else { "Retries off" }
    );
    assert_eq!(shown.notices.contains(&"disabled".to_owned()), !on);
    let idle = read.total().all_calls() == 0.0;
    assert_eq!(shown.notices.contains(&"idle".to_owned()), idle);
    upstreams(shown, &read.status);
}

fn same(table: &str, shown: &[Vec<String>], expected: &[Vec<Expected>]) {
    let rows = shown.iter().zip(expected);
    let all = shown.len() == expected.len()
        && rows
            .clone()
            .all(|(shown, expected)| shown.len() == expected.len());
    assert!(all, "the {table} are {shown:#?}, expected {expected:#?}");
    for (row, expected_row) in rows {
        for (cell, expected) in row.iter().zip(expected_row) {
            let in_row = &row[0];
            assert!(
                expected.is(cell),
                "{table}, {in_row}: {cell:?}, expected {expected:?} in {expected_row:?}"
            );
        }
    }
}

fn tiles(read: &Read) -> Vec<Vec<Expected>> {
    let latest = read.latest();
    let grown = &latest.grown;
    let calls = grown.all_calls();
    let each = if calls > 0.0 {
        Number(grown.attempts() / calls, 2, String::new())
    } else {
        Expected::nothing()
    };
    let tiles = [
        ("Calls", Expected::rate(latest.rate(calls))),
        (
            "First attempt",
            Expected::share(grown.ended("success"), calls),
        ),
        (
            "After retries",
            Expected::share(grown.ended("success_after_retry"), calls),
        ),
        ("Failed", Expected::share(grown.failed(), calls)),
        ("Retries", Expected::rate(latest.rate(grown.retries()))),
        ("Attempts for each call", each),
    ];
    let tile = |(name, value): (&str, _)| vec![Text(name.to_owned()), value];
    tiles.into_iter().map(tile).collect()
}

fn functions(read: &Read) -> Vec<Vec<Expected>> {
    let mut rows = vec![words(&[
        "Function",
        "Calls",
        "First attempt",
        "After retries",
        "Failed",
        "Retries",
        "Delay, mean",
        "Delay, p95",
        "Call, p95",
        "Budget",
    ])];
    let latest = read.latest();
    for function in read.functions() {
        let grown = latest.grown.of(function);
        let calls = grown.all_calls();
        let (delay, call) = ("reattempt_delay_seconds", "reattempt_call_seconds");
        rows.push(vec![
            Text(short(function).to_owned()),
            Expected::rate(latest.rate(calls)),
            Expected::share(grown.ended("success"), calls),
            Expected::share(grown.ended("success_after_retry"), calls),
            Expected::share(grown.failed(), calls),
            Expected::rate(latest.rate(grown.retries())),
            Expected::duration(grown.mean(delay)),
            Expected::duration(grown.quantile(0.95, delay)),
            Expected::duration(grown.quantile(0.95, call)),
            match read.total().of(function).budget() {
                Some(level) => {
                    Expected::short(level, &format!(" of {} tokens", capacity(read, function)))
                }
                None => Expected::nothing(),
            },
        ]);
    }
    rows
}

fn outcomes(read: &Read) -> Vec<Vec<Expected>> {
    let mut outcomes = Vec::from_iter(read.total().values(CALLS, "outcome"));
    // Successes first, the others by name.
    outcomes.sort_by_key(|outcome| !outcome.starts_with("success"));
    let mut heading = words(&["Function"]);
    heading.extend(outcomes.iter().cloned().map(Text));
    let mut rows = vec![heading];
    for function in read.functions() {
        let total = read.total().of(function);
        let mut row = words(&[short(function)]);
        row.extend(
            outcomes
                .iter()
                .map(|outcome| Number(total.ended(outcome), 0, String::new())),
        );
        rows.push(row);
    }
    rows
}

fn policies(status: &Value) -> Vec<Vec<Expected>> {
    let mut rows = vec![words(&[
        "Function",
        "Preset",
        "Attempts",
        "Timeout of one",
        "Deadline of all",
        "Backoff",
        "Jitter",
        "Delay before attempt 2, 3, …",
        "At most",
        "Budget",
    ])];
    for own in list(status, "functions") {
        let or = |key: &str, none: &str| own[key].as_str().unwrap_or(none).to_owned();
        let attempts = own["attempts"].as_u64();
        let delays: Vec<_> = own["delays"].as_array().into_iter().flatten().collect();
        let delays: Vec<_> = delays.into_iter().filter_map(Value::as_str).collect();
        let delays = if delays.is_empty() {
            "none".to_owned()
        } else {
            delays.join(", ")
        };
        let row = [
            short(text(own, "function")).to_owned(),
            or("preset", ""),
            attempts.map_or("unlimited".to_owned(), |attempts| attempts.to_string()),
            or("timeout", "none"),
            or("deadline", "none"),
            or("backoff", ""),
            or("jitter", ""),
            delays,
            or("worst_case", "no limit"),
            or("budget", ""),
        ];
        rows.push(row.map(Text).into());
    }
    rows
}

fn policy_texts(status: &Value) -> Vec<Vec<Expected>> {
    let functions = list(status, "functions").iter();
    functions
        .map(|own| {
            let numbers = own["budget_numbers"].as_str();
            let numbers = numbers.map(|numbers| format!("Budget: {numbers}"));
            words(&[
                short(text(own, "function")),
                text(own, "text"),
                &numbers.unwrap_or_default(),
            ])
        })
        .collect()
}

/// The bars of the budgets. A function without a level has none.
fn bars(shown: &Shown, read: &Read) {
    let functions = read.functions().into_iter();
    let levels = functions.filter_map(|function| {
        let level = read.total().of(function).budget()?;
        Some((level, capacity(read, function)))
    });
    let levels: Vec<_> = levels.collect();
    // The last bit of a number may change on its way from the browser.
    let near = |(bar, (level, max)): (&Meter, &(f64, f64))| {
        (bar.value - level).abs() < 1e-9 && (bar.max - max).abs() < 1e-9
    };
    let all = shown.meters.len() == levels.len() && shown.meters.iter().zip(&levels).all(near);
    assert!(all, "the bars are {:?}, not {levels:?}", shown.meters);
}

/// The buttons of the upstreams, and the texts beside them.
fn upstreams(shown: &Shown, status: &Value) {
    let expected = list(status, "upstreams");
    assert_eq!(shown.upstreams.len(), expected.len());
    for (shown, expected) in shown.upstreams.iter().zip(expected) {
        let [name, kind, address, health, effect] =
            ["name", "kind", "address", "health", "effect"].map(|key| text(expected, key));
        assert_eq!(shown.legend, format!("{name}{kind} at {address}"));
        assert_eq!(shown.choices, ["healthy", "slow", "flaky", "dead"]);
        assert_eq!(shown.chosen, [health], "{name}");
        assert_eq!(shown.text, effect, "{name}");
    }
}

/// The capacity of a function's budget.
pub(crate) fn capacity(read: &Read, function: &str) -> f64 {
    let functions = list(&read.status, "functions");
    let own = functions
        .iter()
        .find(|own| text(own, "function") == function);
    own.and_then(|own| own["budget_capacity"].as_f64())
        .unwrap_or(f64::NAN)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}
