//! Finds out whether a thread runs tasks of a tokio runtime.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use tokio::task::yield_now;

use crate::atomics::Flag;

/// Whether a tokio runtime runs tasks on this thread. These tasks do not run while the thread is blocked.
///
/// - Yes: a worker of the multi-threaded runtime, and the thread in `block_on` of a current-thread runtime.
/// - No: a thread of `spawn_blocking`, a worker in `block_in_place`, and a thread without a runtime. Also the thread in
///   `block_on` of a multi-threaded runtime, which runs one future. That future may be a `LocalSet` with tasks, which
///   nothing can detect.
///
/// `Handle::try_current` does not tell them apart, but `yield_now` does. On a thread with tasks, the scheduler keeps
/// the waker until the other tasks have run. Elsewhere the waker is woken at once. tokio 1.54 behaves like this. tokio
/// 1.27 also keeps the waker in every `block_on` and in `block_in_place`.
pub(super) fn runs_tasks() -> bool {
    let woken = Arc::new(Woken(Flag::new()));
    let waker = Waker::from(Arc::clone(&woken));
    let _pending = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
    woken.0.is_down()
}

struct Woken(Flag);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.raise();
    }
}
