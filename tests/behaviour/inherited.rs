//! Deadlines that a call inherits from the calls and scopes around it.

use std::io;
use std::time::Duration;

use reattempt::deadline::{self, header};
use reattempt::{Outcome, retry};
use tokio::time::Instant;

use crate::script::{RESET, Script, Step, ms, stopped};

plays! {
    patient(attempts = 10, timeout = "1s", deadline = "60s", base = "1s", backoff = "constant", jitter = "none",
        budget = "none")
}

#[tokio::test(start_paused = true)]
async fn an_inner_call_keeps_the_deadline_around_it() {
    #[retry(
        attempts = 2,
        deadline = "3500ms",
        base = "1s",
        jitter = "none",
        budget = "none"
    )]
    async fn outer(script: &Script) -> io::Result<usize> {
        patient(script).await
    }
    let script = Script::new([RESET]);
    outer(&script).await.unwrap_err();
    assert_eq!(script.times(), [ms(0), ms(1000), ms(2000), ms(3000)]);
    assert_eq!(
        script.elapsed(),
        ms(3000),
        "the next wait would end after the deadline, so neither call begins it"
    );
}

#[tokio::test(start_paused = true)]
async fn an_inner_call_keeps_its_own_deadline_if_it_is_nearer() {
    #[retry(attempts = 2, deadline = "500s", nested = "multiply", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        patient(script).await
    }
    plays! { near(deadline = "1500ms", base = "1s", jitter = "none", budget = "none") }
    #[retry(attempts = 1, deadline = "500s", budget = "none")]
    async fn around(script: &Script) -> io::Result<usize> {
        near(script).await
    }
    let script = Script::new([Step::Hang]);
    around(&script).await.unwrap_err();
    assert_eq!(script.elapsed(), ms(1500));
    let script = Script::new([Step::Succeed]);
    outer(&script).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_scope_cuts_a_running_attempt_and_ends_the_call() {
    let script = Script::new([Step::Hang]);
    let until = Instant::now() + ms(2500);
    let error = deadline::scope_at(until, patient(&script))
        .await
        .unwrap_err();
    // The first attempt times out at 1 s, and the wait takes 1 s. The scope cuts the second attempt at 2.5 s.
    assert_eq!(script.times(), [ms(0), ms(2000)]);
    assert_eq!(script.elapsed(), ms(2500));
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    // The call did not reach its own deadline of 60 s.
    let stopped = stopped(&error);
    assert_eq!(
        (stopped.outcome(), stopped.limit()),
        (Outcome::Deadline, None)
    );
    assert_eq!(
        stopped.to_string(),
        "inherited deadline reached (2 attempts, 2.5s)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_function_without_limits_stops_retrying_at_the_deadline_around_it() {
    plays! { unlimited(attempts = 100, base = "1s", backoff = "constant", jitter = "none", budget = "none") }
    let script = Script::new([RESET]);
    deadline::scope(ms(3500), unlimited(&script))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 4);
    assert_eq!(script.elapsed(), ms(3000));

    // The attempt that runs then is not cut.
    let script = Script::new([Step::FailAfter(ms(5000))]);
    deadline::scope(ms(3500), unlimited(&script))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 1);
    assert_eq!(script.elapsed(), ms(5000));
}

#[tokio::test(start_paused = true)]
async fn the_nearest_of_several_scopes_holds() {
    for (outer, inner) in [(2500, 9000), (9000, 2500)] {
        let script = Script::new([RESET]);
        deadline::scope(ms(outer), async {
            deadline::scope(ms(inner), patient(&script)).await
        })
        .await
        .unwrap_err();
        assert_eq!(script.calls(), 3, "{outer} {inner}");
    }
}

/// A service that received `grpc-timeout: 2S` passes the rest of it on to the next service, in each attempt.
#[tokio::test(start_paused = true)]
async fn each_attempt_passes_on_the_time_that_is_left() {
    #[retry(attempts = 3, base = "500ms", jitter = "none", budget = "none")]
    async fn call(script: &Script, sent: &std::cell::RefCell<Vec<String>>) -> io::Result<usize> {
        let left = deadline::remaining().ok_or(io::ErrorKind::InvalidInput)?;
        sent.borrow_mut().push(header::format_grpc_timeout(left));
        script.play().await
    }
    let allowed = header::parse_grpc_timeout("2S").unwrap();
    let sent = std::cell::RefCell::default();
    let script = Script::new([RESET, RESET, Step::Succeed]);
    deadline::scope(allowed, call(&script, &sent))
        .await
        .unwrap();
    let left: Vec<_> = sent
        .borrow()
        .iter()
        .map(|value| header::parse_grpc_timeout(value).unwrap())
        .collect();
    assert_eq!(left, [ms(2000), ms(1500), ms(500)]);
    assert!(deadline::remaining().is_none(), "outside of the scope");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_begins_after_the_deadline_around_it_makes_no_attempt() {
    let script = Script::new([Step::Succeed]);
    let until = Instant::now() + ms(100);
    tokio::time::advance(ms(100)).await;
    let error = deadline::scope_at(until, patient(&script))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 0);
    let stopped = stopped(&error);
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Deadline, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn an_inner_call_that_begins_after_a_deadline_in_the_outer_body_makes_no_attempt() {
    #[retry(attempts = 1)]
    async fn outer(script: &Script) -> io::Result<usize> {
        deadline::scope(Duration::ZERO, patient(script)).await
    }
    let script = Script::new([Step::Succeed]);
    let error = outer(&script).await.unwrap_err();
    assert_eq!((script.calls(), stopped(&error).attempts()), (0, 0));
}

/// The deadline of `outer` begins to run at the same instant as the call inside.
#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_call_that_has_just_begun_is_not_over() {
    #[retry(deadline = "1s", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        patient(script).await
    }
    let script = Script::new([Step::Succeed]);
    assert_eq!(outer(&script).await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_decades_is_not_shortened() {
    let decades = Duration::from_secs(60 * 365 * 24 * 60 * 60);
    let left = deadline::scope(decades, async { deadline::remaining() }).await;
    assert_eq!(left, Some(decades));
}
