//! Where a call runs: in the task of its caller, on both kinds of runtime.

use std::io;

use reattempt::retry;

use crate::script::{RESET, Script, Step};

tokio::task_local! {
    static REQUEST: u32;
}

#[tokio::test(start_paused = true)]
async fn attempts_run_in_the_callers_task() {
    #[retry]
    async fn reads_task_local(script: &Script) -> io::Result<u32> {
        script.play().await?;
        Ok(REQUEST.get())
    }
    let script = Script::new([RESET, RESET, Step::Succeed]);
    assert_eq!(
        REQUEST.scope(7, reads_task_local(&script)).await.unwrap(),
        7
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_runs_on_a_runtime_of_many_threads() {
    plays!(spawned(attempts = 3, base = "1ms", timeout = "60s"));
    let ended = tokio::spawn(async {
        let script = Script::new([RESET, RESET, Step::Succeed]);
        spawned(&script).await
    });
    assert_eq!(ended.await.unwrap().unwrap(), 3);
}

/// A limited call that is ready at once makes no timer either.
#[test]
fn a_limited_call_that_is_ready_at_once_needs_no_runtime() {
    #[retry(timeout = "1s", deadline = "5s")]
    async fn limited() -> io::Result<u8> {
        Ok(1)
    }
    assert_eq!(futures::executor::block_on(limited()).unwrap(), 1);
}
