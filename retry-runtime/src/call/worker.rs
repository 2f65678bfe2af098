//! Whether the thread has other tasks to run.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use tokio::task::yield_now;

use crate::atomics::Flag;

/// Whether this is a thread on which a tokio runtime runs tasks, so that they stand still while it is blocked.
///
/// A worker of the multi-threaded runtime is one, and the thread in `block_on` of a current-thread runtime. These
/// are none: threads of `spawn_blocking`, a worker within `block_in_place`, the thread in `block_on` of a
/// multi-threaded runtime, which runs one future and no tasks (unless that is a `LocalSet`, which nobody can see), and
/// threads without a runtime.
///
/// `Handle::try_current` does not tell them apart. `yield_now` does: the scheduler of such a thread keeps the waker
/// until the other tasks had their turn, and where there is none the waker is woken at once. That is how tokio 1.54 does
/// it. Tokio 1.27 keeps the waker in every `block_on` and in `block_in_place` too.
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
