//! Tasks that a body polls itself. They run within its poll, and so within its attempt.

use std::io;

use reattempt::{Attempt, deadline, retry};
use tokio::task::{LocalSet, block_in_place, spawn_local};

use crate::script::{RESET, Script, ms};

fn number() -> Option<u32> {
    Attempt::current().map(|attempt| attempt.number())
}

/// The body polls this task. A spawned task would be outside of the attempt, see `attempt.rs`.
#[tokio::test(start_paused = true)]
async fn a_local_task_that_the_body_polls_sees_the_attempt() {
    #[retry(attempts = 3, base = "1ms", deadline = "5s", budget = "none")]
    async fn call() -> io::Result<()> {
        let own = number();
        let local = LocalSet::new();
        let seen = local
            .run_until(async {
                let task = spawn_local(async {
                    tokio::time::sleep(ms(1)).await;
                    (number(), deadline::remaining().is_some())
                });
                task.await
            })
            .await?;
        assert_eq!(seen, (own, true));
        Err(io::ErrorKind::ConnectionReset.into())
    }
    call().await.unwrap_err();
    assert_eq!(number(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_future_that_a_body_blocks_on_sees_the_attempt() {
    #[retry(attempts = 3, base = "1ms", budget = "none")]
    async fn call() -> io::Result<()> {
        let own = number();
        let handle = tokio::runtime::Handle::current();
        let seen = block_in_place(|| {
            handle.block_on(async {
                tokio::task::yield_now().await;
                number()
            })
        });
        assert_eq!(seen, own);
        // A task that the future spawns is outside of the attempt.
        let seen = block_in_place(|| handle.block_on(tokio::spawn(async { number() })));
        assert_eq!(seen?, None);
        Err(io::ErrorKind::ConnectionReset.into())
    }
    // Here the call runs on a worker of the runtime.
    let ended = tokio::spawn(call()).await.unwrap();
    ended.unwrap_err();
}

/// Retries of functions that the task calls count as retries within the body.
#[tokio::test(start_paused = true)]
async fn retries_in_a_local_task_that_the_body_polls_add() {
    plays!(inner(attempts = 4, base = "1ms", budget = "none"));
    #[retry(attempts = 4, base = "1ms", budget = "none")]
    async fn outer(script: &std::rc::Rc<Script>) -> io::Result<usize> {
        let local = LocalSet::new();
        let script = script.clone();
        let task = local.spawn_local(async move { inner(&script).await });
        local.run_until(task).await?
    }
    let script = std::rc::Rc::new(Script::new([RESET]));
    outer(&script).await.unwrap_err();
    assert_eq!(script.calls(), 7);
}

/// As `docs/ERRORS.md` says.
#[tokio::test(start_paused = true)]
async fn a_future_in_a_sync_future_is_sync() {
    #[retry(attempts = 2)]
    async fn fetch() -> io::Result<u32> {
        tokio::task::yield_now().await;
        Ok(7)
    }
    type Shared = std::pin::Pin<Box<dyn Future<Output = io::Result<u32>> + Send + Sync>>;
    let shared: Shared = Box::pin(sync_wrapper::SyncFuture::new(fetch()));
    assert_eq!(shared.await.unwrap(), 7);
}
