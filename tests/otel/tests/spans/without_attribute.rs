//! `Policy::run`.

use std::io;

use opentelemetry::Value;
use reattempt::{Policy, run};

use crate::recorded::{Recorded, text, value};

const POLICY: Policy = Policy::new().with_attempts(2);

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "cable cut")
}

#[tokio::test(start_paused = true)]
async fn an_operation_without_an_attribute_has_the_same_spans() {
    let recorded = Recorded::start();
    let operation = || async { Err::<(), _>(reset()) };
    let line = line!() + 1;
    POLICY.run(operation).with_name("ping").await.unwrap_err();
    let failed = r#"transient Error { description: "" }"#;
    assert_eq!(
        recorded.tree(),
        [
            r#"ping attempts_exhausted Error { description: "" }"#.to_owned(),
            format!("  attempt 1 {failed}"),
            format!("  attempt 2 {failed}"),
        ]
    );
    let spans = recorded.spans();
    assert_eq!(text(&spans[2], "error").as_deref(), Some("cable cut"));
    assert_eq!(text(&spans[0], "code.file.path").as_deref(), Some(file!()));
    let place = value(&spans[0], "code.line.number");
    assert_eq!(place, Some(Value::I64(line.into())));
}

#[tokio::test(start_paused = true)]
async fn a_sensitive_operation_leaves_the_text_out() {
    let recorded = Recorded::start();
    let call = run!(policy = POLICY, name = "ping", sensitive, async || {
        Err::<(), _>(reset())
    });
    call.await.unwrap_err();
    let last = recorded.spans().pop().unwrap();
    assert_eq!(text(&last, "error").as_deref(), Some("(sensitive)"));
}
