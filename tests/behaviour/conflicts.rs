//! The verdict `conflict`: another caller was faster, and the work was rolled back.

#![allow(clippy::float_cmp, reason = "whole numbers of tokens are exact")]

use reattempt::{Budget, Outcome, Retryable, retry, with_report};

#[derive(Debug, Retryable)]
enum Failure {
    #[retryable(conflict)]
    Conflict,
    #[retryable(transient)]
    Lost,
}

/// Fails as listed, and then succeeds.
fn next(failures: &mut Vec<Failure>) -> Result<(), Failure> {
    match failures.pop() {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_conflict_costs_the_budget_nothing() {
    static LEVEL: Budget = Budget::new().with_refill(0.0);
    #[retry(attempts = 12, budget = "LEVEL")]
    async fn transfer(failures: &mut Vec<Failure>) -> Result<(), Failure> {
        next(failures)
    }
    for _ in 0..100 {
        let mut conflicts: Vec<_> = (0..11).map(|_| Failure::Conflict).collect();
        transfer(&mut conflicts).await.unwrap();
    }
    assert_eq!(LEVEL.level(), 200.0);
    let mut conflicts: Vec<_> = (0..12).map(|_| Failure::Conflict).collect();
    transfer(&mut conflicts).await.unwrap_err();
    assert_eq!(LEVEL.level(), 200.0);

    // A retry after another failure costs as always, whatever came before it.
    let mut mixed = vec![Failure::Lost, Failure::Lost, Failure::Conflict];
    mixed.extend((0..11).map(|_| Failure::Lost));
    let before = LEVEL.level();
    transfer(&mut mixed).await.unwrap_err();
    assert_eq!(before - LEVEL.level(), 22.0);
}

#[tokio::test(start_paused = true)]
async fn an_empty_budget_does_not_end_a_call_that_conflicts() {
    static EMPTY: Budget = Budget::new().with_capacity(1).with_refill(0.0);
    #[retry(attempts = 4, budget = "EMPTY")]
    async fn transfer(failures: &mut Vec<Failure>) -> Result<(), Failure> {
        next(failures)
    }
    let mut conflicts = vec![Failure::Conflict, Failure::Conflict, Failure::Conflict];
    transfer(&mut conflicts).await.unwrap();

    let (_, report) = with_report(transfer(&mut vec![Failure::Lost, Failure::Conflict])).await;
    let report = report.unwrap();
    assert_eq!((report.attempts(), report.outcome()), (2, Outcome::Budget));
}

#[tokio::test(start_paused = true)]
async fn a_conflict_had_no_effect_and_is_repeated_although_the_body_must_not_run_twice() {
    #[retry(idempotent = false)]
    async fn transfer(failures: &mut Vec<Failure>) -> Result<(), Failure> {
        next(failures)
    }
    transfer(&mut vec![Failure::Conflict, Failure::Conflict])
        .await
        .unwrap();
    let mut left = vec![Failure::Conflict, Failure::Lost];
    transfer(&mut left).await.unwrap_err();
    assert_eq!(left.len(), 1);
}
