//! The default of `throttled_base`, against servers with quotas.

use std::time::Duration;

use simulation::quota::Rush;
use simulation::tables::quota_means;

#[test]
fn ten_times_the_base_lets_more_calls_succeed_with_fewer_requests() {
    let base = Duration::from_millis(100);
    for rush in &Rush::ALL {
        let [calls, requests, _] = quota_means(rush, None);
        let [calls_before, requests_before, _] = quota_means(rush, Some(base));
        // Where every call has a chance, none or few are left without success.
        assert!(
            calls > calls_before - 0.005,
            "{}: {calls_before}, {calls}",
            rush.name
        );
        let less = requests < requests_before + 0.01;
        // Of workers, more calls succeed and so more are made.
        assert!(
            less || calls > calls_before + 0.1,
            "{}: {requests_before}, {requests}",
            rush.name
        );
    }
}

#[test]
fn calls_that_exceed_a_quota_once_nearly_all_succeed() {
    for rush in Rush::ALL
        .iter()
        .filter(|rush| rush.name.contains("at once"))
    {
        let [calls, ..] = quota_means(rush, None);
        assert!(calls > 0.88, "{}: {calls}", rush.name);
    }
}
