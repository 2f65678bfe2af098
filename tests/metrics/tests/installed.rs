//! A recorder of the whole process, set while calls run. A process has only one, so this is its own test binary.

use std::io;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use reattempt::retry;

#[retry(name = "call", on = "io::Error")]
async fn call() -> io::Result<()> {
    Ok(())
}

#[tokio::test]
async fn a_recorder_that_comes_later_counts_all_calls_from_the_sixteenth_on() {
    call().await.unwrap();
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();
    for _ in 0..15 {
        call().await.unwrap();
    }
    let late = calls(&snapshotter);
    if cfg!(debug_assertions) {
        assert_eq!(late, [(true, true, DebugValue::Counter(15))]);
    } else {
        assert_eq!(late, []);
    }
    for _ in 0..3 {
        call().await.unwrap();
    }
    // A thread that made no calls before counts from its first one.
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(call()).unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(calls(&snapshotter), [(true, true, DebugValue::Counter(4))]);
}

/// The calls since it was last asked: whether they have a unit and a description, and their number.
fn calls(snapshotter: &Snapshotter) -> Vec<(bool, bool, DebugValue)> {
    let all = snapshotter.snapshot().into_vec().into_iter();
    let calls = all.filter(|(key, ..)| key.key().name() == "reattempt_calls_total");
    calls
        .map(|(_, unit, description, value)| (unit.is_some(), description.is_some(), value))
        .collect()
}
