//! The dashboard for Grafana.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use crate::program::Service;
use crate::prometheus::Prometheus;
use crate::{Failure, PATIENCE, Tested, guide};

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

/// The queries of the panels, as Grafana sends them.
fn queries_of_panels() -> Result<Vec<String>, Failure> {
    let dashboard = dashboard()?;
    let mut queries = Vec::new();
    for panel in list(&dashboard, "panels")? {
        for target in list(panel, "targets")? {
            let query = target["expr"].as_str().ok_or("no expr")?;
            queries.push(
                query
                    .replace("$function", ".*")
                    .replace("$__rate_interval", "15s"),
            );
        }
    }
    Ok(queries)
}

pub(crate) async fn queries_return_data() -> Tested {
    let service = Service::start(20)?;
    let prometheus = Prometheus::scraping(&service.url).await?;
    service.post("/upstreams/catalogue/flaky").await?;
    service.post("/upstreams/cart/slow").await?;

    let queries = [queries_of_panels()?, guide::queries()?].concat();
    for query in &queries {
        prometheus
            .ask("api/v1/format_query", &[("query", query)])
            .await?;
    }
    let began = Instant::now();
    for query in &queries {
        while !has_data(&prometheus.ask("api/v1/query", &[("query", query)]).await?) {
            if began.elapsed() > PATIENCE {
                return Err(format!("no data within {PATIENCE:?}: {query}").into());
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    // The variable of the dashboard, from `label_values(reattempt_calls_total, function)`.
    let calls = [("match[]", "reattempt_calls_total")];
    let functions = prometheus
        .ask("api/v1/label/function/values", &calls)
        .await?;
    assert_eq!(functions.as_array().map(Vec::len), Some(4), "{functions}");
    Ok(())
}

/// Whether a result has numbers, and none that is too high to be real.
fn has_data(result: &Value) -> bool {
    let samples = result["result"].as_array();
    samples.is_some_and(|samples| {
        samples.iter().any(|sample| {
            let value = sample["value"][1].as_str().unwrap_or_default();
            value.parse().is_ok_and(f64::is_finite)
        })
    })
}

pub(crate) fn panels_have_room_and_units() -> Tested {
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
