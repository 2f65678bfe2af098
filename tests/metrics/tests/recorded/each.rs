//! Each series, and its labels.

#![allow(clippy::float_cmp, reason = "whole numbers of calls are exact")]

use std::cell::Cell;
use std::io;
use std::time::Duration;

use reattempt::{Budget, Policy, Retryable, Stopped, Verdict, retry, with_report};
use tokio::time::timeout;

use metrics_util::debugging::DebuggingRecorder;

use crate::{Recorded, recorded, run};

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

#[retry(
    attempts = 3,
    base = "1s",
    jitter = "none",
    on = "io::Error",
    name = "fetch"
)]
async fn fetch(runs: &mut u32, failures: u32) -> io::Result<()> {
    *runs += 1;
    if *runs <= failures {
        Err(reset())
    } else {
        Ok(())
    }
}

#[test]
fn a_call_that_succeeds_at_once_has_five_series() {
    // No other test uses the budget of this function.
    #[retry(attempts = 3, on = "io::Error", name = "fetch")]
    async fn alone() -> io::Result<()> {
        Ok(())
    }
    let ((result, report), recorded) = recorded(|| run(with_report(alone())));
    result.unwrap();
    assert_eq!(
        recorded.names(),
        [
            "reattempt_attempts_total{function=fetch,verdict=success}",
            "reattempt_budget_level{function=fetch}",
            "reattempt_call_seconds{function=fetch}",
            "reattempt_calls_total{function=fetch,outcome=success}",
            "reattempt_retries{function=fetch}",
        ]
    );
    assert_eq!(recorded.sum("reattempt_calls_total{"), 1);
    assert_eq!(recorded.sum("reattempt_attempts_total{"), 1);
    assert_eq!(recorded.samples("reattempt_retries{function=fetch}"), [0.0]);
    assert_eq!(
        recorded.samples("reattempt_call_seconds{function=fetch}"),
        [0.0]
    );
    assert_eq!(
        Some(recorded.gauge("reattempt_budget_level{function=fetch}")),
        report.unwrap().budget_level()
    );
}

#[test]
fn a_call_that_is_retried_records_its_delays_and_its_time() {
    let (result, recorded) = recorded(|| run(fetch(&mut 0, 2)));
    result.unwrap();
    let counted = |name: &str| recorded.counter(name);
    assert_eq!(
        counted("reattempt_calls_total{function=fetch,outcome=success_after_retry}"),
        1
    );
    assert_eq!(
        counted("reattempt_attempts_total{function=fetch,verdict=transient}"),
        2
    );
    assert_eq!(
        counted("reattempt_attempts_total{function=fetch,verdict=success}"),
        1
    );
    assert_eq!(recorded.samples("reattempt_retries{function=fetch}"), [2.0]);
    assert_eq!(
        recorded.samples("reattempt_delay_seconds{function=fetch}"),
        [1.0, 2.0]
    );
    assert_eq!(
        recorded.samples("reattempt_call_seconds{function=fetch}"),
        [3.0]
    );
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("{0}")]
    #[retryable(with = "Clone::clone")]
    Of(Verdict),
    #[error("stopped")]
    #[retryable(permanent)]
    Stopped(#[from] Stopped),
}

/// The labels of the only call that a closure makes, of a function with the name `call`, and of its attempts.
fn labels<T>(call: impl FnOnce() -> T) -> String {
    let ((), recorded) = recorded(|| drop(call()));
    let of = |prefix: &str| {
        let counted = recorded.names().into_iter().filter_map(|name| {
            let label = name.strip_prefix(prefix)?.strip_suffix('}')?;
            Some(format!("{} {label}", recorded.counter(name)))
        });
        counted.collect::<Vec<_>>().join(", ")
    };
    let calls = of("reattempt_calls_total{function=call,outcome=");
    let attempts = of("reattempt_attempts_total{function=call,verdict=");
    format!("{calls}: {attempts}")
}

#[test]
fn each_verdict_and_each_outcome_is_a_label() {
    const POLICY: Policy = Policy::new()
        .with_attempts(2)
        .with_base(Duration::from_millis(1));
    static EMPTY: Budget = Budget::new().with_capacity(1);
    let hang = || async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok::<(), Failure>(())
    };
    let fail = |verdict| move || async move { Err::<(), _>(Failure::Of(verdict)) };

    for (verdict, expected) in [
        (Verdict::Transient, "1 attempts_exhausted: 2 transient"),
        (Verdict::Throttled, "1 attempts_exhausted: 2 throttled"),
        (Verdict::Refused, "1 attempts_exhausted: 2 refused"),
        (Verdict::Conflict, "1 attempts_exhausted: 2 conflict"),
        (Verdict::Permanent, "1 not_retryable: 1 permanent"),
        (Verdict::Unknown, "1 not_retryable: 1 unknown"),
    ] {
        let call = async { POLICY.run(fail(verdict)).with_name("call").await };
        assert_eq!(labels(|| run(call)), expected);
    }

    let limit = Duration::from_millis(5);
    let hangs = |policy: Policy| policy.run(hang).with_name("call");
    let call = async { hangs(POLICY.with_timeout(limit)).await };
    assert_eq!(labels(|| run(call)), "1 timeout: 2 transient");
    let call = async { hangs(POLICY.with_deadline(limit)).await };
    assert_eq!(labels(|| run(call)), "1 deadline: 1 transient");
    let fails = POLICY.run(fail(Verdict::Transient)).with_budget(&EMPTY);
    let call = async { fails.with_name("call").await };
    assert_eq!(labels(|| run(call)), "1 budget: 1 transient");
    let call = async { hangs(POLICY).with_cancel(tokio::time::sleep(limit)).await };
    assert_eq!(labels(|| run(call)), "1 cancelled: 1 none");
    let call = async { hangs(POLICY).with_cancel(std::future::ready(())).await };
    assert_eq!(labels(|| run(call)), "1 cancelled: ");
    let call = async { timeout(limit, hangs(POLICY).into_future()).await };
    assert_eq!(labels(|| run(call)), "1 dropped: 1 none");
}

#[test]
fn a_call_that_panics_counts_as_dropped() {
    #[retry(attempts = 2, on = "io::Error", name = "call")]
    async fn in_the_body() -> io::Result<()> {
        panic!("in the body")
    }
    #[retry(attempts = 2, on = "io::Error", cancel = no_future(), name = "call")]
    async fn before_the_body() -> io::Result<()> {
        Ok(())
    }
    fn no_future() -> std::future::Pending<()> {
        panic!("made none")
    }
    let panics = || std::panic::catch_unwind(|| run(in_the_body())).map_err(|_| ());
    assert_eq!(labels(|| panics().unwrap_err()), "1 dropped: 1 none");
    let panics = || std::panic::catch_unwind(|| run(before_the_body())).map_err(|_| ());
    assert_eq!(labels(|| panics().unwrap_err()), "1 dropped: ");
}

/// A call without limits reads the clock only if an observer asks how long it took.
#[test]
fn the_time_of_a_call_without_limits_counts_from_its_beginning() {
    #[retry(attempts = 2, on = "io::Error", name = "call")]
    async fn sleeps() -> io::Result<()> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    }
    let ((), recorded) = recorded(|| run(sleeps()).unwrap());
    assert_eq!(
        recorded.samples("reattempt_call_seconds{function=call}"),
        [1.0]
    );
    let (result, report) = run(with_report(sleeps()));
    result.unwrap();
    assert_eq!(report.unwrap().elapsed(), Duration::from_secs(1));
}

#[test]
fn ten_thousand_different_errors_add_no_series() {
    #[retry(attempts = 2, base = "1ms", when = |_| true, budget = "none", name = "call")]
    async fn fails(number: u32) -> Result<(), String> {
        Err(format!("error {number}"))
    }
    let calls = |numbers: std::ops::Range<u32>| {
        recorded(|| {
            run(async {
                for number in numbers {
                    fails(number).await.unwrap_err();
                }
            });
        })
        .1
    };
    let (one, many) = (calls(0..1), calls(0..10_000));
    assert_eq!(one.names(), many.names());
    assert_eq!(many.sum("reattempt_attempts_total{"), 20_000);
}

/// A recorder without fields, which has the same size as `NoopRecorder`.
#[derive(Debug)]
struct NoFields;

mod no_fields {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use metrics::{
        Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    };

    pub(super) static COUNTED: AtomicU64 = AtomicU64::new(0);

    struct Counts;

    impl metrics::CounterFn for Counts {
        fn increment(&self, value: u64) {
            COUNTED.fetch_add(value, Ordering::Relaxed);
        }

        fn absolute(&self, _: u64) {}
    }

    impl Recorder for super::NoFields {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(Arc::new(Counts))
        }
        fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::noop()
        }
        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }
}

#[test]
fn a_recorder_without_fields_is_used() {
    let call = || run(fetch(&mut 0, 0));
    metrics::with_local_recorder(&NoFields, call).unwrap();
    let counted = no_fields::COUNTED.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(counted, 2, "a call and an attempt");
}

#[test]
fn a_hedge_is_counted_when_its_call_ends() {
    use reattempt::Attempt;
    use std::time::Duration;
    use tokio::time::sleep;

    #[retry(attempts = 3, hedge = "10ms", name = "fetch")]
    async fn slow(first: u64, hedge: u64) -> io::Result<()> {
        let is_hedge = Attempt::current().unwrap().is_hedge();
        sleep(Duration::from_millis(if is_hedge { hedge } else { first })).await;
        Ok(())
    }
    let ((), recorded) = recorded(|| {
        run(async {
            slow(5, 0).await.unwrap();
            slow(50, 5).await.unwrap();
            slow(20, 50).await.unwrap();
            for _ in 0..20 {
                slow(20, 50).await.unwrap();
            }
        });
    });
    let hedges = |result: &str| {
        recorded.counter(&format!(
            "reattempt_hedges_total{{function=fetch,hedge={result}}}"
        ))
    };
    // Ten are saved up, and the calls add one more.
    assert_eq!(
        [hedges("won"), hedges("lost"), hedges("refused")],
        [1, 10, 11]
    );
    let attempts = |verdict: &str| {
        recorded.counter(&format!(
            "reattempt_attempts_total{{function=fetch,verdict={verdict}}}"
        ))
    };
    assert_eq!([attempts("success"), attempts("none")], [23, 11]);
    let retries = recorded.samples("reattempt_retries{function=fetch}");
    assert_eq!(retries, [0.0; 23], "a hedge has no wait");
    assert_eq!(recorded.sum("reattempt_retries_begun_total"), 0);
}

/// A call that fails for hours does not end, and is seen all the same.
#[test]
fn a_retry_is_counted_when_it_begins_and_a_gauge_says_how_many_calls_wait() {
    #[retry(attempts = "unlimited", base = "1s", jitter = "none", budget = budget, name = "fetch")]
    async fn relay(budget: &Budget) -> io::Result<()> {
        let _ = budget;
        Err(reset())
    }
    let waiting = "reattempt_calls_waiting{function=fetch}";
    let begun = "reattempt_retries_begun_total{function=fetch,verdict=transient}";
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let budget = Budget::new();
    metrics::with_local_recorder(&recorder, || {
        run(async {
            let calls = async { tokio::join!(relay(&budget), relay(&budget), relay(&budget)) };
            // At 0 and 1 s, and then at 3 s.
            assert!(timeout(Duration::from_millis(1_500), calls).await.is_err());
        });
        let seen = Recorded::of(&snapshotter);
        assert_eq!(seen.counter(begun), 3);
        assert_eq!(seen.gauge(waiting), 0.0, "they were dropped");
        run(async {
            let mut call = Box::pin(relay(&budget));
            assert!(
                timeout(Duration::from_millis(1_500), &mut call)
                    .await
                    .is_err()
            );
            let seen = Recorded::of(&snapshotter);
            assert_eq!(seen.counter(begun), 1);
            assert_eq!(seen.gauge(waiting), 1.0);
            assert!(seen.gauge("reattempt_budget_level{function=fetch}") < 200.0);
            assert_eq!(seen.sum("reattempt_calls_total{"), 0);
        });
        // A snapshot takes the values, so this is the difference.
        assert_eq!(Recorded::of(&snapshotter).gauge(waiting), -1.0);
    });
}

/// A standby that waits for its turn does not fail.
#[test]
fn what_is_not_ready_has_a_word_of_its_own() {
    #[retry(attempts = "unlimited", base = "1s", jitter = "none", until = |ours| *ours, name = "lease")]
    async fn lease(asked: &Cell<u32>) -> io::Result<bool> {
        asked.set(asked.get() + 1);
        if asked.get() == 2 {
            Err(reset())
        } else {
            Ok(asked.get() == 4)
        }
    }
    let (ready, recorded) = recorded(|| run(lease(&Cell::new(0))));
    assert!(ready.unwrap());
    let count = |name: &str, verdict: &str| {
        recorded.counter(&format!(
            "reattempt_{name}_total{{function=lease,verdict={verdict}}}"
        ))
    };
    assert_eq!(
        ["not_ready", "transient", "success"].map(|verdict| count("attempts", verdict)),
        [2, 1, 1]
    );
    assert_eq!(
        ["not_ready", "transient"].map(|verdict| count("retries_begun", verdict)),
        [2, 1]
    );
}
