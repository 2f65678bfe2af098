//! The file of alerts to copy.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Instant;

use integrations::program::Program;
use tokio::time::{Duration, sleep};

use crate::dashboard::{PERIOD, make_fail};
use crate::program::Service;
use crate::prometheus::Prometheus;
use crate::{PATIENCE, Tested};

/// It is in the package of Prometheus.
pub(crate) const PROMTOOL: Program = Program {
    names: &["promtool"],
    package: "prometheus",
    folders: &[],
};

const ALERTS: &str = include_str!("../../alerts.yml");

/// The first commit in doubt of a process is seen, though its counter did not exist before, and so is one that follows others. Five
/// minutes later it is over.
pub(crate) async fn the_alert_for_a_commit_in_doubt_fires_at_the_first_and_at_a_later_one() -> Tested
{
    const SERIES: &str = r#"
rule_files: [alerts.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'reattempt_calls_total{function="pay", outcome="success"}'
        values: '0+10x40'
      - series: 'reattempt_calls_total{function="pay", outcome="in_doubt"}'
        values: '_x5 1x14 2x20'
      - series: 'reattempt_retries_begun_total{function="lease", verdict="not_ready"}'
        values: '0+10x40'
      - series: 'reattempt_retries_begun_total{function="relay", verdict="transient"}'
        values: '0+10x40'
    alert_rule_test:
"#;
    let mut tests = SERIES.to_owned();
    for (minute, fires) in [
        (4, false),
        (5, true),
        (9, true),
        (11, false),
        (19, false),
        (20, true),
        (26, false),
    ] {
        let alerts = if fires {
            "{ exp_labels: { severity: warn, function: pay }, exp_annotations: { summary: 'pay: a transaction may have taken effect' } }"
        } else {
            ""
        };
        writeln!(
            tests,
            "      - {{ eval_time: {minute}m, alertname: CommitInDoubt, exp_alerts: [{alerts}] }}"
        )?;
    }
    // One that waits until something is ready does not fail.
    tests += "      - { eval_time: 30m, alertname: StillFailing, exp_alerts: [\
              { exp_labels: { severity: page, function: relay }, exp_annotations: { summary: 'relay: all attempts have been failing for minutes' } }\
              ] }\n";
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("alerts.yml"), ALERTS)?;
    let file = folder.path().join("tests.yml");
    fs::write(&file, tests)?;
    let checked = Command::new(PROMTOOL.find()?)
        .args(["test", "rules"])
        .arg(file)
        .output()?;
    assert!(checked.status.success(), "{checked:?}");
    Ok(())
}

/// Each of them fires while the orders are dead, and none while all is well. The alert for a lost `COMMIT` does not: the orders
/// never get as far.
pub(crate) async fn each_alert_fires_while_an_upstream_is_dead() -> Tested {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/alerts.yml");
    let checked = Command::new(PROMTOOL.find()?)
        .args(["check", "rules", file])
        .output()?;
    assert!(checked.status.success(), "{checked:?}");

    // Over a period for which a test can wait.
    let rules = ALERTS.replace("[5m]", &format!("[{PERIOD}]"));
    let rules = rules.replace("for: 5m", "for: 2s");
    let expected: BTreeSet<_> = ALERTS
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .filter(|alert| *alert != "CommitInDoubt")
        .map(str::to_owned)
        .collect();
    assert_eq!(expected.len(), 3);
    let service = Service::start(20)?;
    let prometheus = Prometheus::with_rules(&service.url, &rules).await?;
    service
        .until("calls", |numbers| numbers.all_calls() > 20.0)
        .await?;
    assert_eq!(firing(&prometheus).await?, BTreeSet::new());

    make_fail(&service).await?;
    let began = Instant::now();
    loop {
        let firing = firing(&prometheus).await?;
        if firing == expected {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("only {firing:?} within {PATIENCE:?}").into());
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// The names of the alerts that fire.
async fn firing(prometheus: &Prometheus) -> Result<BTreeSet<String>, crate::Failure> {
    let data = prometheus.ask("api/v1/alerts", &[]).await?;
    let alerts = data["alerts"].as_array().ok_or("no list of alerts")?;
    let firing = alerts.iter().filter(|alert| alert["state"] == "firing");
    let names = firing.filter_map(|alert| alert["labels"]["alertname"].as_str());
    Ok(names.map(str::to_owned).collect())
}
