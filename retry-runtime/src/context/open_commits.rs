//! Counts the commits of an attempt that have not ended, and reports them to the outer attempts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open commits of one attempt. A task that carries the attempt may outlive it, and then changes nothing else.
#[derive(Debug, Default)]
pub(crate) struct OpenCommits(Mutex<OpenCommitsState>);

#[derive(Debug, Default)]
struct OpenCommitsState {
    commits: u32,
    /// The outer attempt, once it was notified.
    around: Option<Arc<OpenCommits>>,
}

impl OpenCommits {
    pub(super) fn enter(&self) {
        self.state().commits += 1;
    }

    /// Reports to the outer attempts too, if no other commit is under way here.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.commits -= 1;
        let outer = match state.commits {
            0 => state.around.take(),
            _ => None,
        };
        drop(state);
        if let Some(outer) = outer {
            outer.leave();
        }
    }

    /// Reports to the outer attempt, once. Locks go from the inside out, so none waits for another in a circle.
    pub(super) fn share_with(self: &Arc<Self>, outer: Arc<Self>) {
        let mut state = self.state();
        let told = state.around.as_ref();
        let told = told.is_some_and(|told| Arc::ptr_eq(told, &outer));
        // A call may be polled within its own carried attempt.
        if state.commits == 0 || told || Arc::ptr_eq(self, &outer) {
            return;
        }
        outer.enter();
        let earlier = state.around.replace(outer);
        drop(state);
        if let Some(earlier) = earlier {
            earlier.leave();
        }
    }

    /// Whether a commit is pending or was dropped.
    pub(super) fn is_present(&self) -> bool {
        self.state().commits > 0
    }

    fn state(&self) -> MutexGuard<'_, OpenCommitsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_tells_the_one_around_only_of_a_commit_and_never_itself() {
        let [inner, outer] = [(); 2].map(|()| Arc::new(OpenCommits::default()));
        let told = || outer.state().commits;
        inner.share_with(Arc::clone(&outer));
        assert_eq!(told(), 0, "no commit is under way");
        inner.enter();
        inner.share_with(Arc::clone(&inner));
        for _ in 0..2 {
            inner.share_with(Arc::clone(&outer));
            assert_eq!(told(), 1);
        }
        inner.leave();
        assert_eq!(told(), 0);
    }
}
