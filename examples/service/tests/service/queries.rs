//! The queries of the dashboard and of the guide: their words, and their results.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reattempt::{Outcome, Verdict};
use tokio::time::sleep;

use crate::dashboard::{make_fail, panels};
use crate::program::Service;
use crate::prometheus::Prometheus;
use crate::{Failure, PATIENCE, Tested, guide};

/// All words of the label `outcome`.
pub(crate) const OUTCOMES: [Outcome; 11] = [
    Outcome::Success,
    Outcome::SuccessAfterRetry,
    Outcome::NotRetryable,
    Outcome::AttemptsExhausted,
    Outcome::Timeout,
    Outcome::Deadline,
    Outcome::Budget,
    Outcome::HintTooLong,
    Outcome::Disabled,
    Outcome::Cancelled,
    Outcome::Dropped,
];

/// The words of the label `verdict` for attempts that failed.
const VERDICTS: [Verdict; 6] = [
    Verdict::Transient,
    Verdict::Throttled,
    Verdict::Refused,
    Verdict::Conflict,
    Verdict::Permanent,
    Verdict::Unknown,
];

pub(crate) async fn every_query_names_what_is_recorded_and_returns_data() -> Tested {
    let service = Service::start(20)?;
    let prometheus = Prometheus::scraping(&service.url).await?;
    make_fail(&service).await?;

    let mut queries = guide::queries()?;
    queries.extend(panels()?.into_iter().flat_map(|panel| panel.queries));
    for query in &queries {
        let asked = [("query", query.as_str())];
        prometheus.ask("api/v1/format_query", &asked).await?;
        // With it, a query returns zero if its metric does not exist.
        let query = query.replace(" or vector(0)", "");
        let began = Instant::now();
        while prometheus
            .query(&query, &prometheus.time().await?)
            .await?
            .is_empty()
        {
            if began.elapsed() > PATIENCE {
                return Err(format!("no data within {PATIENCE:?}: {query}").into());
            }
            sleep(Duration::from_millis(500)).await;
        }
    }
    for query in &queries {
        names_exist(&prometheus, query).await?;
    }

    // The variable of the dashboard, from `label_values(reattempt_calls_total, function)`.
    let calls = [("match[]", "reattempt_calls_total")];
    let functions = prometheus
        .names("api/v1/label/function/values", &calls)
        .await?;
    assert_eq!(functions.len(), 4, "{functions:?}");
    Ok(())
}

/// Fails if a query has a metric or a label that was not recorded, or a value of a label that no call can have.
async fn names_exist(prometheus: &Prometheus, query: &str) -> Tested {
    let names = prometheus
        .names("api/v1/label/__name__/values", &[])
        .await?;
    let labels = prometheus.names("api/v1/labels", &[]).await?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for name in query.split(|c| !word(c)) {
        let recorded = !name.starts_with("reattempt") || names.contains(name);
        assert!(recorded, "nothing records {name}: {query}");
    }
    for (label, values) in matchers(query)? {
        let known = known(prometheus, label).await?;
        for value in values
            .split('|')
            .filter(|value| !value.contains(['.', '[']))
        {
            assert!(known.contains(value), "no {label} is {value}: {query}");
        }
    }
    for list in query.split("by (").skip(1) {
        let list = list.split(')').next().unwrap_or_default();
        for label in list.split(", ") {
            assert!(labels.contains(label), "no label is {label}: {query}");
        }
    }
    Ok(())
}

/// The label and the value of each matcher. The value may be a regular expression.
fn matchers(query: &str) -> Result<Vec<(&str, &str)>, Failure> {
    let mut matchers = Vec::new();
    for braces in query.split('{').skip(1) {
        let (inside, _) = braces.split_once('}').ok_or("no end of the matchers")?;
        for matcher in inside.split(',') {
            let (label, value) = matcher.split_once('"').ok_or("no value")?;
            matchers.push((
                label.trim_end_matches(['=', '!', '~']),
                value.trim_end_matches('"'),
            ));
        }
    }
    Ok(matchers)
}

/// The values that a label can have.
async fn known(prometheus: &Prometheus, label: &str) -> Result<BTreeSet<String>, Failure> {
    Ok(match label {
        "outcome" => OUTCOMES.iter().map(ToString::to_string).collect(),
        "verdict" => {
            let failed = VERDICTS.iter().map(ToString::to_string);
            failed
                .chain(["success", "not_ready", "none"].map(str::to_owned))
                .collect()
        }
        _ => {
            let path = format!("api/v1/label/{label}/values");
            prometheus.names(&path, &[]).await?
        }
    })
}
