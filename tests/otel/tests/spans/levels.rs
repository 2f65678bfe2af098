//! Spans have the level trace and the target `reattempt`.

use std::io;

use reattempt::retry;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{Targets, filter_fn};

use crate::recorded::Recorded;

#[retry(attempts = 2, base = "1ms", name = "call", budget = "none")]
async fn call(fails: bool) -> io::Result<bool> {
    if fails {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(tracing::Span::current().id().is_none())
}

#[tokio::test(start_paused = true)]
async fn above_the_level_there_are_no_spans() {
    let recorded = Recorded::filtered(Targets::new().with_default(LevelFilter::DEBUG));
    call(true).await.unwrap_err();
    assert!(call(false).await.unwrap());
    assert_eq!(recorded.tree(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_level_trace_for_another_target_gives_no_spans() {
    let targets = Targets::new().with_target("elsewhere", LevelFilter::TRACE);
    let recorded = Recorded::filtered(targets.with_default(LevelFilter::INFO));
    call(true).await.unwrap_err();
    assert!(call(false).await.unwrap());
    assert_eq!(recorded.tree(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_target_alone_can_be_turned_on() {
    let targets = Targets::new().with_target("reattempt", LevelFilter::TRACE);
    let recorded = Recorded::filtered(targets);
    assert!(!call(false).await.unwrap());
    assert_eq!(recorded.tree(), ["call success", "  attempt 1 success"]);
}

#[tokio::test(start_paused = true)]
async fn a_filter_may_leave_out_one_of_the_two() {
    for (left_out, tree) in [
        ("outcome", "attempt 1 success"),
        ("verdict", "call success"),
    ] {
        let recorded = Recorded::filtered(filter_fn(move |metadata| {
            metadata.target() != "reattempt" || metadata.fields().field(left_out).is_none()
        }));
        call(false).await.unwrap();
        assert_eq!(recorded.tree(), [tree]);
    }
}
