//! Functions that are not async.

use std::cell::Cell;
use std::io;

use reattempt::retry;

use crate::recorded::Recorded;

#[retry(blocking, attempts = 2, base = "1ms", name = "ping")]
fn ping(calls: &Cell<u32>) -> io::Result<u32> {
    calls.set(calls.get() + 1);
    tracing::debug_span!("inside").in_scope(|| match calls.get() {
        1 => Err(io::Error::new(io::ErrorKind::ConnectionReset, "cable cut")),
        calls => Ok(calls),
    })
}

#[test]
fn a_blocking_function_has_the_same_spans() {
    let recorded = Recorded::start();
    assert_eq!(ping(&Cell::new(0)).unwrap(), 2);
    let failed = r#"transient Error { description: "" }"#;
    assert_eq!(
        recorded.tree(),
        [
            "ping success_after_retry".to_owned(),
            format!("  attempt 1 {failed}"),
            "    inside".to_owned(),
            "  attempt 2 success".to_owned(),
            "    inside".to_owned(),
        ]
    );
}

fn reconnect() {
    let _within = tracing::debug_span!("reconnect").entered();
}

#[retry(blocking, attempts = 2, base = "1ms", name = "ping", before_retry = reconnect())]
fn prepared(calls: &Cell<u32>) -> io::Result<()> {
    calls.set(calls.get() + 1);
    match calls.get() {
        1 => Err(io::ErrorKind::ConnectionReset.into()),
        _ => Ok(()),
    }
}

#[test]
fn a_blocking_before_retry_runs_in_the_span_of_the_call() {
    let recorded = Recorded::start();
    prepared(&Cell::new(0)).unwrap();
    let call = recorded.only("ping").span_context.span_id();
    assert_eq!(recorded.only("reconnect").parent_span_id, call);
}
