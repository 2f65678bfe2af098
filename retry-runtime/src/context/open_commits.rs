//! Counts the commits of an attempt that have not ended, and reports them to the outer attempts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open commits of one attempt. A task that carries the attempt may outlive it, and then changes nothing else.
#[derive(Debug, Default)]
pub(crate) struct OpenCommits(Mutex<OpenCommitsState>);

#[derive(Debug, Default)]
struct OpenCommitsState {
    commits: u32,
    /// The outer attempt, once they were reported to it.
    outer: Option<Arc<OpenCommits>>,
}

impl OpenCommits {
    pub(super) fn enter(&self) {
        self.state().commits += 1;
    }

    /// Reports that to the outer attempts too, if no other commit is under way here.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.commits -= 1;
        let outer = match state.commits {
            0 => state.outer.take(),
            _ => None,
        };
        drop(state);
        if let Some(outer) = outer {
            outer.leave();
        }
    }

    /// Reports them to the outer attempt, once. Locks go from the inside out, so none waits for another in a circle.
    pub(super) fn share_with(self: &Arc<Self>, outer: Arc<Self>) {
        let mut state = self.state();
        let reported = state.outer.as_ref();
        let reported = reported.is_some_and(|reported| Arc::ptr_eq(reported, &outer));
        // A call may be polled within its own carried attempt.
        if state.commits == 0 || reported || Arc::ptr_eq(self, &outer) {
            return;
        }
        outer.enter();
        let earlier = state.outer.replace(outer);
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
    fn an_attempt_reports_only_commits_to_the_outer_one_and_never_to_itself() {
        let [inner, outer] = [(); 2].map(|()| Arc::new(OpenCommits::default()));
        let reported = || outer.state().commits;
        inner.share_with(Arc::clone(&outer));
        assert_eq!(reported(), 0, "no commit is under way");
        inner.enter();
        inner.share_with(Arc::clone(&inner));
        for _ in 0..2 {
            inner.share_with(Arc::clone(&outer));
            assert_eq!(reported(), 1);
        }
        inner.leave();
        assert_eq!(reported(), 0);
    }
}
