//! A recorder of the whole process, installed while calls run. A process has only one, so this is its own test binary, with
//! one test.

use std::future::Future;
use std::io;
use std::task::{Context, Waker};

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use reattempt::retry;

#[retry(name = "call", on = "io::Error")]
async fn call() -> io::Result<()> {
    Ok(())
}

/// Its second attempt begins at its second poll.
#[retry(name = "call", on = "io::Error", delays = ["0s"], before_retry = tokio::task::yield_now())]
async fn fails_once(runs: &mut u32) -> io::Result<()> {
    *runs += 1;
    if *runs == 1 {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(())
}

#[tokio::test]
async fn a_recorder_that_comes_later_is_found_by_the_next_call_of_each_thread() {
    call().await.unwrap();
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();

    // This thread made a call before.
    let (attempts, calls) = ("reattempt_attempts_total", "reattempt_calls_total");
    for _ in 0..15 {
        call().await.unwrap();
    }
    assert_eq!(counted(&snapshotter, calls), 15);

    // Another thread makes its first call, which ends in this one.
    let mut runs = 0;
    let mut moved = Box::pin(fails_once(&mut runs));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_time().build().unwrap();
            let _entered = runtime.enter();
            let polled = moved.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        });
    });
    moved.await.unwrap();
    assert_eq!(runs, 2);
    assert_eq!(counted(&snapshotter, attempts), 2);
    for _ in 0..100 {
        call().await.unwrap();
    }
    assert_eq!(counted(&snapshotter, calls), 100);
}

/// The sum of the counters of this name since the last question for any.
fn counted(snapshotter: &Snapshotter, name: &str) -> u64 {
    let all = snapshotter.snapshot().into_vec().into_iter();
    let values = all.filter_map(|(key, unit, description, value)| {
        let DebugValue::Counter(value) = value else {
            return None;
        };
        assert!(unit.is_some() && description.is_some(), "{key:?}");
        (key.key().name() == name).then_some(value)
    });
    values.sum()
}
