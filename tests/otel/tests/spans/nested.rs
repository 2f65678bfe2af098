//! Calls within calls.

use std::cell::Cell;
use std::io;

use reattempt::testing::Scope;
use reattempt::{propagate, retry};
use tracing::Instrument as _;

use crate::recorded::Recorded;

#[retry(attempts = 2, base = "1ms", name = "inner", budget = "none")]
async fn inner(calls: &Cell<u32>) -> io::Result<()> {
    calls.set(calls.get() + 1);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(attempts = 2, base = "1ms", name = "outer", budget = "none")]
async fn outer(calls: &Cell<u32>) -> io::Result<()> {
    inner(calls).await
}

#[tokio::test(start_paused = true)]
async fn nested_calls_form_a_tree() {
    let recorded = Recorded::start();
    let calls = Cell::new(0);
    outer(&calls).await.unwrap_err();
    let failed = r#"transient Error { description: "" }"#;
    let exhausted = r#"attempts_exhausted Error { description: "" }"#;
    assert_eq!(
        recorded.tree(),
        [
            format!("outer {exhausted}"),
            format!("  attempt 1 {failed}"),
            format!("    inner {exhausted}"),
            format!("      attempt 1 {failed}"),
            format!("      attempt 2 {failed}"),
            format!("  attempt 2 {failed}"),
            // The inner call has spent its retry.
            format!("    inner {exhausted}"),
            format!("      attempt 1 {failed}"),
        ]
    );
    assert_eq!(calls.get(), 3, "as without spans");
}

#[tokio::test(start_paused = true)]
async fn calls_in_a_test_scope_have_spans() {
    let recorded = Recorded::start();
    let calls = Cell::new(0);
    let (result, log) = Scope::new().run(outer(&calls)).await;
    result.unwrap_err();
    assert_eq!(log.calls().len(), 3);
    assert_eq!(recorded.tree().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_you_instrument_is_in_the_span_of_the_attempt() {
    #[retry(name = "in a task")]
    async fn work() -> io::Result<()> {
        Ok(())
    }
    #[retry(name = "spawns")]
    async fn spawns() -> io::Result<()> {
        tokio::spawn(propagate(work()).in_current_span())
            .await
            .unwrap()
    }
    let recorded = Recorded::start();
    spawns().await.unwrap();
    assert_eq!(
        recorded.tree(),
        [
            "spawns success",
            "  attempt 1 success",
            "    in a task success",
            "      attempt 1 success"
        ]
    );
}
