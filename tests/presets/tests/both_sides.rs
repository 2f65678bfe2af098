//! The macros and the runtime do not know each other, so each has defaults and limits of its own. They are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reattempt::{Policy, Settings};
use serde_json::{Value, json};

const TABLE: &str = include_str!("../../../retry-macros/src/keys.rs");

/// The rows of the table whose value is one duration, each with the name in the table and that of the key.
fn rows() -> BTreeMap<&'static str, (&'static str, &'static str)> {
    let (_, table) = TABLE.split_once("\nkeys! {\n").unwrap();
    let rows = table.split(";\n").filter_map(|row| {
        let line = row
            .lines()
            .map(str::trim)
            .find(|line| line.contains(" \""))?;
        let (id, rest) = line.split_once(' ')?;
        let key = rest.split('"').nth(1)?;
        let is_duration = row.contains("\"a duration\"");
        is_duration.then_some((id, (key, row)))
    });
    rows.collect()
}

/// The length in `Duration::from_millis(100)`.
fn length(code: &str) -> Duration {
    let (make, rest) = code.split_once('(').unwrap_or((code, ""));
    let number = || rest.split(')').next().unwrap().parse().unwrap();
    match make.trim_end_matches([',', '\n', ' ']) {
        "Duration::from_millis" => Duration::from_millis(number()),
        "Duration::from_secs" => Duration::from_secs(number()),
        make => {
            assert!(make.starts_with("Duration::ZERO"), "{code}");
            Duration::ZERO
        }
    }
}

fn read(keys: Value) -> Result<Settings, serde_json::Error> {
    serde_json::from_value(keys)
}

#[test]
fn the_defaults_of_the_macros_are_those_of_a_policy() {
    let defaults: BTreeMap<_, _> = rows()
        .into_values()
        .filter_map(|(key, row)| Some((key, length(row.split_once("default ")?.1))))
        .collect();
    let policy = Policy::new();
    let expected = [
        ("base", policy.base()),
        ("max_delay", policy.max_delay()),
        ("max_retry_after", policy.max_retry_after()),
        ("min_delay", policy.min_delay()),
    ];
    assert_eq!(defaults, expected.into());
    assert_eq!(policy.attempts(), Some(3));
}

/// Each key that must not be above another one.
const PAIRS: [(&str, &str); 6] = [
    ("base", "max_delay"),
    ("hedge", "deadline"),
    ("hedge", "timeout"),
    ("min_delay", "max_delay"),
    ("throttled_base", "max_delay"),
    ("timeout", "deadline"),
];

#[test]
fn a_key_that_must_not_be_above_another_is_refused_by_both_sides() {
    let rows = rows();
    let mut pairs = BTreeSet::new();
    for (key, row) in rows.values() {
        for long in row.split("at_most ").skip(1) {
            let long = long.split([',', '\n']).next().unwrap();
            pairs.insert((*key, rows[long].0));
        }
    }
    let keys = || rows.values().map(|(key, _)| *key);
    let refused = keys().flat_map(|short| keys().map(move |long| (short, long)));
    let refused: BTreeSet<_> = refused
        .filter(|(short, long)| {
            short != long && read(json!({ *short: "2s", *long: "1s" })).is_err()
        })
        .collect();
    assert_eq!(refused, pairs);
    let expected = PAIRS.into();
    let new: Vec<_> = pairs.symmetric_difference(&expected).collect();
    assert!(new.is_empty(), "`PAIRS` and the table differ in {new:?}");
}

#[test]
fn a_duration_of_zero_or_above_24_hours_is_refused_by_both_sides() {
    for (key, row) in rows().into_values() {
        let refused = read(json!({ key: "0s" })).is_err();
        assert_eq!(refused, row.contains("above_zero"), "{key}");
        assert!(read(json!({ key: "24h" })).is_ok(), "{key}");
        assert!(read(json!({ key: "24h 1ns" })).is_err(), "{key}");
    }
    let limit = "const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);";
    assert!(include_str!("../../../retry-macros/src/duration.rs").contains(limit));
}
