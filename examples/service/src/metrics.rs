//! Exports counters and histograms to Prometheus, at `/metrics`.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;

/// Buckets for the retries of a call.
const RETRIES: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

/// Buckets in seconds, for delays and for calls.
const SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0,
];

/// How often the exporter sorts its records into histograms, if no one scrapes it.
const UPKEEP: Duration = Duration::from_secs(5);

/// Installs the recorder of the process.
///
/// Without buckets the exporter makes summaries, whose quantiles cannot be added up over several processes.
///
/// # Errors
///
/// - The process already has a recorder.
pub(crate) fn install() -> Result<PrometheusHandle, BuildError> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full("reattempt_retries".to_owned()), &RETRIES)?
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .install_recorder()?;
    let kept = recorder.clone();
    tokio::spawn(async move {
        let mut ticks = interval(UPKEEP);
        loop {
            ticks.tick().await;
            kept.run_upkeep();
        }
    });
    Ok(recorder)
}

/// `GET /metrics`.
pub(crate) fn router(recorder: PrometheusHandle) -> Router {
    Router::new()
        .route("/metrics", get(render))
        .with_state(recorder)
}

async fn render(State(recorder): State<PrometheusHandle>) -> String {
    recorder.render()
}
