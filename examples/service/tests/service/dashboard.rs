//! The dashboard for Grafana.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use crate::numbers::{ATTEMPTS, CALLS, Labels, NO_FAILURES, Numbers};
use crate::program::Service;
use crate::prometheus::Prometheus;
use crate::{Failure, PATIENCE, Tested};

/// The period of rates. A test can wait for it.
pub(crate) const PERIOD: &str = "15s";

fn dashboard() -> Result<Value, Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboard.json");
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// The list at this key, which must not be empty.
fn list<'v>(value: &'v Value, key: &str) -> Result<&'v [Value], Failure> {
    match value[key].as_array() {
        Some(list) if !list.is_empty() => Ok(list),
        _ => Err(format!("no {key} in {value}").into()),
    }
}

/// A panel, and its queries as Grafana sends them.
pub(crate) struct Panel {
    kind: String,
    pub(crate) title: String,
    pub(crate) queries: Vec<String>,
}

pub(crate) fn panels() -> Result<Vec<Panel>, Failure> {
    let dashboard = dashboard()?;
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or("no text");
    let mut panels = Vec::new();
    for panel in list(&dashboard, "panels")? {
        let mut queries = Vec::new();
        for target in list(panel, "targets")? {
            let query = text(&target["expr"])?;
            let query = query.replace("$function", ".*");
            queries.push(query.replace("$__rate_interval", PERIOD));
        }
        panels.push(Panel {
            kind: text(&panel["type"])?,
            title: text(&panel["title"])?,
            queries,
        });
    }
    Ok(panels)
}

/// Compares each panel with what the test computes from the rate of each single series at the same time.
pub(crate) async fn every_panel_shows_what_its_title_says() -> Tested {
    let service = Service::start(20)?;
    let prometheus = Prometheus::scraping(&service.url).await?;
    make_fail(&service).await?;
    let panels = panels()?;
    let began = Instant::now();
    loop {
        let time = prometheus.time().await?;
        let rates = rates(&prometheus, &time).await?;
        let mut shown = Vec::new();
        for panel in &panels {
            for query in &panel.queries {
                shown.push(prometheus.query(query, &time).await?);
            }
        }
        // Only then, no scrape of that time has arrived in between.
        let same = rates == self::rates(&prometheus, &time).await?;
        if same && tells_apart(&rates) {
            compare(&panels, &shown, &rates);
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("too little within {PATIENCE:?}: {rates:?}").into());
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// Makes upstreams fail, so that calls end in several ways.
pub(crate) async fn make_fail(service: &Service) -> Tested {
    service.post("/upstreams/catalogue/flaky").await?;
    service.post("/upstreams/orders/dead").await
}

/// The rate of each series, and the levels.
async fn rates(prometheus: &Prometheus, time: &str) -> Result<Numbers, Failure> {
    let mut rates = Numbers::default();
    let names = prometheus
        .names("api/v1/label/__name__/values", &[])
        .await?;
    for name in names.iter().filter(|name| name.starts_with("reattempt_")) {
        let query = if name == "reattempt_budget_level" {
            name.clone()
        } else {
            format!("rate({name}[{PERIOD}])")
        };
        for (labels, value) in prometheus.query(&query, time).await? {
            rates.insert(name, labels, value);
        }
    }
    Ok(rates)
}

/// Whether no two of the numbers are the same by chance.
fn tells_apart(rates: &Numbers) -> bool {
    let [first, later] = ["success", "success_after_retry"].map(|outcome| rates.ended(outcome));
    let (failed, retries) = (rates.failed(), rates.retries());
    let mut numbers = [
        0.0,
        first,
        later,
        failed,
        retries,
        rates.all_calls(),
        rates.attempts(),
    ];
    numbers.sort_by(f64::total_cmp);
    numbers.windows(2).all(|pair| pair[1] - pair[0] > 1e-6)
}

fn compare(panels: &[Panel], shown: &[BTreeMap<Labels, f64>], rates: &Numbers) {
    let mut shown = shown.iter();
    for panel in panels {
        let expected = expected(&panel.kind, &panel.title, rates);
        assert_eq!(panel.queries.len(), expected.len(), "{}", panel.title);
        for ((query, expected), shown) in panel.queries.iter().zip(expected).zip(&mut shown) {
            let near =
                |(one, other): (&f64, &f64)| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
            assert!(
                shown.keys().eq(expected.keys()) && shown.values().zip(expected.values()).all(near),
                "{}: {shown:?}, expected {expected:?}: {query}",
                panel.title
            );
        }
    }
}

/// What each query of a panel has to return.
fn expected(kind: &str, title: &str, rates: &Numbers) -> Vec<BTreeMap<Labels, f64>> {
    let one = |value: f64| vec![BTreeMap::from([(Labels::new(), value)])];
    let calls = rates.all_calls();
    let of_each = |value: &dyn Fn(&Numbers) -> Option<f64>| -> BTreeMap<Labels, f64> {
        let functions = rates.values(CALLS, "function").into_iter();
        let values = functions.filter_map(|function| {
            let value = value(&rates.of(&function))?;
            Some((Labels::from([("function".to_owned(), function)]), value))
        });
        values.collect()
    };
    let quantiles = |histogram: &str| {
        let quantile = |q| of_each(&|own| own.quantile(q, histogram));
        vec![quantile(0.5), quantile(0.95)]
    };
    let without = |label: &str, left_out: &[&str], mut sums: BTreeMap<Labels, f64>| {
        sums.retain(|labels, _| !left_out.contains(&labels[label].as_str()));
        vec![sums]
    };
    match (kind, title) {
        ("stat", "Calls") => one(calls),
        ("stat", "First attempt succeeded") => one(rates.ended("success") / calls),
        ("stat", "Succeeded after retries") => one(rates.ended("success_after_retry") / calls),
        ("stat", "Failed") => one(rates.failed() / calls),
        ("stat", "Retries") => one(rates.retries()),
        ("stat", "Attempts for each call") => one(rates.attempts() / calls),
        ("timeseries", "Calls by outcome") => vec![rates.sums_by(&["outcome"], CALLS)],
        ("timeseries", "Calls that failed") => {
            let all = rates.sums_by(&["function", "outcome"], CALLS);
            without("outcome", &NO_FAILURES, all)
        }
        ("timeseries", "Retries") => {
            vec![rates.sums_by(&["function"], "reattempt_delay_seconds_count")]
        }
        ("timeseries", "Failed attempts by verdict") => without(
            "verdict",
            &["success", "not_ready"],
            rates.sums_by(&["verdict"], ATTEMPTS),
        ),
        ("timeseries", "Budget level") => vec![of_each(&Numbers::budget)],
        ("timeseries", "Attempts for each call") => {
            let each = |own: &Numbers| own.attempts() / own.all_calls();
            vec![of_each(&|own| {
                Some(each(own)).filter(|each| each.is_finite())
            })]
        }
        ("timeseries", "Delay before a retry") => quantiles("reattempt_delay_seconds"),
        ("timeseries", "Duration of a call") => quantiles("reattempt_call_seconds"),
        ("timeseries", "Retries of a call") => {
            let all = rates.sum("reattempt_retries_count");
            let mut more = rates.sums_by(&["le"], "reattempt_retries_bucket");
            more.retain(|labels, _| ["0", "1", "2", "3", "4"].contains(&labels["le"].as_str()));
            for share in more.values_mut() {
                *share = 1.0 - *share / all;
            }
            vec![more]
        }
        _ => panic!("the test does not know what the {kind} {title} has to show"),
    }
}

pub(crate) async fn panels_have_room_and_units() -> Tested {
    let dashboard = dashboard()?;
    assert_eq!(dashboard["title"], "Retries");
    let panels = list(&dashboard, "panels")?;
    let mut taken = Vec::new();
    for panel in panels {
        let title = panel["title"].as_str().ok_or("no title")?;
        let unit = &panel["fieldConfig"]["defaults"]["unit"];
        assert!(unit.is_string(), "{title} has no unit");
        assert!(
            panel["description"].is_string(),
            "{title} says not what it means"
        );
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        let size = |key: &str| {
            panel["gridPos"][key]
                .as_u64()
                .ok_or(format!("{title}: no {key}"))
        };
        let (x, y, w, h) = (size("x")?, size("y")?, size("w")?, size("h")?);
        assert!(x + w <= 24, "{title} is wider than the dashboard");
        for column in x..x + w {
            for row in y..y + h {
                assert!(
                    !taken.contains(&(column, row)),
                    "{title} covers another panel"
                );
                taken.push((column, row));
            }
        }
    }
    let mut ids: Vec<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), panels.len(), "two panels have the same id");
    Ok(())
}
