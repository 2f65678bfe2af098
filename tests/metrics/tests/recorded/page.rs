//! The table of `src/guide/seeing.md` has what calls record.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use metrics_util::MetricKind;
use metrics_util::debugging::DebuggingRecorder;
use reattempt::{retry, with_report};

/// Name, kind and labels.
type Row = (String, String, String);

#[test]
fn the_page_has_each_metric_with_its_kind_and_labels() {
    #[retry(attempts = 3, base = "1ms", hedge = "1ms", on = "io::Error")]
    async fn fails() -> io::Result<()> {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let (_, report) = metrics::with_local_recorder(&recorder, || super::run(with_report(fails())));
    // A label has the name of what a report returns.
    let fields = format!("{:?}", report.unwrap());
    let keys = snapshotter.snapshot().into_vec().into_iter();
    let found: BTreeSet<Row> = keys
        .map(|(key, ..)| {
            let kind = match key.kind() {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram => "histogram",
            };
            let labels = key.key().labels();
            let labels: Vec<_> = labels.map(|label| format!("`{}`", label.key())).collect();
            let is_field =
                |label: &String| fields.contains(&format!(" {}: ", label.trim_matches('`')));
            assert!(labels.iter().all(is_field), "{labels:?}: {fields}");
            (
                format!("`{}`", key.key().name()),
                kind.to_owned(),
                labels.join(", "),
            )
        })
        .collect();
    assert_eq!(of_the_page(), found);
}

/// The first three columns. The kind ends at the comma before the unit.
fn of_the_page() -> BTreeSet<Row> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/guide/seeing.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `reattempt_"));
    rows.map(|row| {
        let mut cells = row.split('|').skip(1).map(str::trim);
        let mut cell = || cells.next().unwrap().to_owned();
        let (name, kind, labels) = (cell(), cell(), cell());
        (name, kind.split(',').next().unwrap().to_owned(), labels)
    })
    .collect()
}
