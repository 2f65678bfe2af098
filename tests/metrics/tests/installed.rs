//! A recorder of the whole process, set while calls run. A process has only one, so this is its own test binary.

use std::io;

use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use reattempt::retry;

#[retry(name = "call", on = "io::Error")]
async fn call() -> io::Result<()> {
    Ok(())
}

#[tokio::test]
async fn calls_count_from_the_moment_at_which_a_recorder_is_set() {
    call().await.unwrap();
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();
    for _ in 0..3 {
        call().await.unwrap();
    }
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(call()).unwrap();
    })
    .join()
    .unwrap();
    let calls = snapshotter.snapshot().into_vec().into_iter();
    let calls = calls.filter(|(key, ..)| key.key().name() == "reattempt_calls_total");
    let counted: Vec<_> = calls
        .map(|(_, unit, description, value)| (unit.is_some(), description.is_some(), value))
        .collect();
    assert_eq!(counted, [(true, true, DebugValue::Counter(4))]);
}
