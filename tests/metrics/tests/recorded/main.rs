//! The metrics that calls record with the crate `metrics`.

mod each;
mod page;
mod requests;
mod sums;

use std::collections::BTreeMap;
use std::future::Future;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use tokio::runtime::Runtime;

/// The values of a recorder, by name and labels: `reattempt_calls_total{function=fetch,outcome=success}`.
#[derive(Debug)]
struct Recorded(BTreeMap<String, DebugValue>);

impl Recorded {
    fn of(snapshotter: &Snapshotter) -> Self {
        let all = snapshotter.snapshot().into_vec().into_iter();
        Self(
            all.map(|(key, _, _, value)| (text(key.key()), value))
                .collect(),
        )
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    fn counter(&self, name: &str) -> u64 {
        match self.0.get(name) {
            Some(DebugValue::Counter(value)) => *value,
            None => 0,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The sum of the counters whose names begin with `prefix`.
    fn sum(&self, prefix: &str) -> u64 {
        let names = self.0.keys().filter(|name| name.starts_with(prefix));
        names.map(|name| self.counter(name)).sum()
    }

    fn samples(&self, name: &str) -> Vec<f64> {
        match self.0.get(name) {
            Some(DebugValue::Histogram(values)) => {
                values.iter().map(|value| value.into_inner()).collect()
            }
            None => Vec::new(),
            other => panic!("{name}: {other:?}"),
        }
    }

    fn gauge(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(DebugValue::Gauge(value)) => value.into_inner(),
            other => panic!("{name}: {other:?}"),
        }
    }
}

fn text(key: &metrics::Key) -> String {
    let labels = key
        .labels()
        .map(|label| format!("{}={}", label.key(), label.value()));
    format!("{}{{{}}}", key.name(), labels.collect::<Vec<_>>().join(","))
}

/// Runs a future on a paused clock.
fn run<T>(future: impl Future<Output = T>) -> T {
    paused().block_on(future)
}

/// A runtime whose clock is paused.
fn paused() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

/// Runs `f` with a recorder for this thread.
fn recorded<T>(f: impl FnOnce() -> T) -> (T, Recorded) {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let output = metrics::with_local_recorder(&recorder, f);
    (output, Recorded::of(&snapshotter))
}
