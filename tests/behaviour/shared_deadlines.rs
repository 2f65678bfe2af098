//! A deadline that refuses an inner call a retry ends those outer calls whose deadline it is too. It leaves alone the
//! calls outside a scope, and the outer calls of a function with a nearer deadline of its own.

use std::cell::Cell;
use std::io;

use reattempt::deadline::{self, header};
use reattempt::{Jitter, Outcome, Policy, Report, propagate, retry, with_report};

use crate::script::{ms, reset, run};

/// Deadlines that a layer may have, in milliseconds. Three attempts within one of them end before the next one.
const DEADLINES: [Option<u64>; 4] = [None, Some(50), Some(1000), Some(5000)];

/// The deadlines around the innermost call, the outermost first. They all begin at the same instant.
#[derive(Debug, Clone, Copy)]
struct Layers {
    request: Option<u64>,
    page: Option<u64>,
    scope_in_page: Option<u64>,
    part: Option<u64>,
    scope_in_part: Option<u64>,
}

impl Layers {
    /// All layers with a deadline around the innermost call.
    fn all() -> impl Iterator<Item = Self> {
        let layers = DEADLINES.len().pow(5);
        let all = (0..layers).map(|number| {
            let of = |layer: u32| DEADLINES[number / DEADLINES.len().pow(layer) % DEADLINES.len()];
            Self {
                request: of(0),
                page: of(1),
                scope_in_page: of(2),
                part: of(3),
                scope_in_part: of(4),
            }
        });
        all.filter(|layers| layers.nearest()[2].is_some())
    }

    /// The nearest deadline of `page`, of `part`, and of the innermost call.
    fn nearest(self) -> [Option<u64>; 3] {
        let page = [self.request, self.page];
        let part = [self.scope_in_page, self.part];
        let nearest = |all: &[Option<u64>]| all.iter().flatten().min().copied();
        [
            nearest(&page),
            nearest(&[page, part].concat()),
            nearest(&[&page[..], &part, &[self.scope_in_part]].concat()),
        ]
    }
}

async fn scope<T>(deadline: Option<u64>, future: impl Future<Output = T>) -> T {
    match deadline {
        Some(time) => deadline::scope(ms(time), future).await,
        None => future.await,
    }
}

/// With a wait that is short enough for every deadline.
fn policy(deadline: Option<u64>) -> Policy {
    let policy = Policy::new().with_base(ms(1)).with_jitter(Jitter::None);
    match deadline {
        Some(time) => policy.with_deadline(ms(time)),
        None => policy,
    }
}

#[retry(policy = policy(own), budget = "none", when = |_| true)]
async fn page(own: Option<u64>, body: impl AsyncFn() -> io::Result<()>) -> io::Result<()> {
    body().await
}

#[retry(policy = policy(own), budget = "none", when = |_| true)]
async fn part(own: Option<u64>, body: impl AsyncFn() -> io::Result<()>) -> io::Result<()> {
    body().await
}

#[retry(blocking, policy = policy(own).with_base(ms(0)), budget = "none", when = |_| true)]
fn blocks(own: Option<u64>, body: impl Fn() -> io::Result<()>) -> io::Result<()> {
    body()
}

/// How `page` and `part` are written.
#[derive(Debug, Clone, Copy)]
enum How {
    Attribute,
    Run,
    Blocking,
}

/// Its last wait before a deadline would end after it.
#[retry(
    attempts = "unlimited",
    base = "40ms",
    backoff = "constant",
    jitter = "none",
    budget = "none"
)]
async fn waits() -> io::Result<()> {
    Err(reset())
}

/// The deadline cuts its attempt.
#[retry(attempts = 2, timeout = "1h", budget = "none")]
async fn is_cut() -> io::Result<()> {
    tokio::time::sleep(ms(24 * 60 * 60 * 1000)).await;
    Err(reset())
}

/// Has no time to wait.
#[retry(
    blocking,
    base = "1h",
    max_delay = "1h",
    jitter = "none",
    budget = "none"
)]
fn is_refused() -> io::Result<()> {
    Err(reset())
}

/// The reports of `page`, and of the first call of `part`.
async fn reports(
    how: How,
    layers: Layers,
    lookup: impl AsyncFn() -> io::Result<()>,
) -> [Report; 2] {
    let first = Cell::new(None);
    let in_part = async || scope(layers.scope_in_part, lookup()).await;
    let in_page = async || {
        let own = layers.part;
        let call = async {
            let (ended, report) = match how {
                How::Attribute => with_report(part(own, in_part)).await,
                How::Run => {
                    with_report(
                        policy(own)
                            .run(in_part)
                            .when(|_| true)
                            .without_budget()
                            .unboxed(),
                    )
                    .await
                }
                How::Blocking => with_report(async { blocks(own, || run(in_part())) }).await,
            };
            first.set(first.take().or(report));
            ended
        };
        scope(layers.scope_in_page, call).await
    };
    let own = layers.page;
    let call = async {
        match how {
            How::Attribute => with_report(page(own, in_page)).await,
            How::Run => {
                with_report(
                    policy(own)
                        .run(in_page)
                        .when(|_| true)
                        .without_budget()
                        .unboxed(),
                )
                .await
            }
            How::Blocking => with_report(async { blocks(own, || run(in_page())) }).await,
        }
    };
    let (_, report) = scope(layers.request, call).await;
    [report.unwrap(), first.take().unwrap()]
}

/// A call ends after one attempt if its nearest deadline is the one that refused the innermost call.
fn check(how: How, layers: Layers, [page, part]: [Report; 2]) {
    let [of_page, of_part, refuses] = layers.nearest();
    for (report, nearest) in [(page, of_page), (part, of_part)] {
        let ends = nearest == refuses;
        let told = format!("{how:?}, {layers:?}: {report}");
        assert_eq!(report.attempts() == 1, ends, "{told}");
        if ends {
            assert_eq!(report.outcome(), Outcome::Deadline, "{told}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_refuses_a_wait_ends_the_calls_around_whose_deadline_it_is_too() {
    for layers in Layers::all() {
        for how in [How::Attribute, How::Run] {
            let reports = Box::pin(reports(how, layers, waits)).await;
            check(how, layers, reports);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_cuts_an_attempt_ends_the_calls_around_whose_deadline_it_is_too() {
    for layers in Layers::all() {
        for how in [How::Attribute, How::Run] {
            let reports = Box::pin(reports(how, layers, is_cut)).await;
            check(how, layers, reports);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_blocking_calls_around_whose_deadline_it_is_too() {
    for layers in Layers::all() {
        let lookup = async || is_refused();
        check(
            How::Blocking,
            layers,
            reports(How::Blocking, layers, lookup).await,
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_scope_in_the_body_cut_is_retried() {
    #[retry(attempts = 3, base = "1ms", budget = "none")]
    async fn by_verdict(body: impl AsyncFn() -> io::Result<()>) -> io::Result<()> {
        body().await
    }
    let body = async || deadline::scope(ms(50), is_cut()).await;
    let (_, report) = with_report(by_verdict(body)).await;
    let report = report.unwrap();
    assert_eq!(
        (report.outcome(), report.attempts()),
        (Outcome::AttemptsExhausted, 3)
    );
    // Its own deadline is the nearer one.
    let (_, report) =
        with_report(deadline::scope(ms(50), by_verdict(async || is_cut().await))).await;
    let report = report.unwrap();
    assert_eq!(
        (report.outcome(), report.attempts()),
        (Outcome::Deadline, 1)
    );
}

/// The body opens a scope with the deadline of the request that it is in.
#[tokio::test(start_paused = true)]
async fn a_deadline_of_a_header_ends_the_calls_in_the_request() {
    let allowed = header::parse_grpc_timeout("50m").unwrap();
    let until = tokio::time::Instant::now() + allowed;
    let body = async || deadline::scope_at(until, waits()).await;
    let (_, report) = deadline::scope_at(until, with_report(page(None, body))).await;
    let report = report.unwrap();
    assert_eq!(
        (report.outcome(), report.attempts()),
        (Outcome::Deadline, 1)
    );

    let (_, report) = with_report(page(None, body)).await;
    let report = report.unwrap();
    assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
}

/// Code in a nearer scope fails after the refusal, in the same poll.
#[tokio::test(start_paused = true)]
async fn a_scope_without_calls_leaves_the_refusal_before_it() {
    let body = async || {
        let _ = waits().await;
        deadline::scope(ms(5), async { Err(reset()) }).await
    };
    let (_, report) = with_report(page(Some(50), body)).await;
    let report = report.unwrap();
    assert_eq!(
        (report.outcome(), report.attempts()),
        (Outcome::Deadline, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_a_carried_future_does_not_end_the_attempt_it_is_carried_from() {
    let body = async || propagate(waits()).await;
    let (_, report) = with_report(page(Some(50), body)).await;
    assert!(report.unwrap().attempts() > 1);
    // The calls inside the carried future share its deadline.
    for (around, in_body, attempts) in [(50, 1000, 1), (1000, 50, 3)] {
        let body = async || deadline::scope(ms(in_body), waits()).await;
        let call = async { propagate(with_report(page(None, body))).await };
        let (_, report) = deadline::scope(ms(around), call).await;
        assert_eq!(report.unwrap().attempts(), attempts, "{around} {in_body}");
    }
}
