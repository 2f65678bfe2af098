//! The settings of a client whose requests are calls: a layer of `tower`, or a middleware of `reqwest-middleware`.

use std::panic::Location;
use std::sync::Arc;

use crate::classify::Verdict;
use crate::policy::Policy;
use crate::run::Run;
use crate::site::{BudgetOf, PolicyOf};

#[derive(Clone)]
pub(crate) struct ClientSettings {
    policy: Arc<dyn Fn() -> Policy + Send + Sync>,
    pub(crate) place: &'static Location<'static>,
    pub(crate) name: Option<&'static str>,
    pub(crate) budget: Option<Arc<dyn BudgetOf + Send + Sync>>,
    pub(crate) sensitive: bool,
    /// Whether requests may run twice, if that is said.
    pub(crate) idempotent: Option<bool>,
    pub(crate) silent: bool,
}

impl ClientSettings {
    #[track_caller]
    pub(crate) fn new(policy: impl PolicyOf + Send + Sync + 'static) -> Self {
        Self {
            policy: Arc::new(move || policy.policy()),
            place: Location::caller(),
            name: None,
            budget: None,
            sensitive: false,
            idempotent: None,
            silent: false,
        }
    }

    /// Returns the present policy, with one attempt for a request that cannot be copied.
    pub(crate) fn policy(&self, has_copy: bool) -> Policy {
        let policy = (self.policy)();
        let silent = self.silent || policy.is_silent();
        let policy = policy.with_silent(silent);
        if has_copy {
            policy
        } else {
            policy.with_attempts(1)
        }
    }

    /// Whether a response with this verdict is an error of the attempt.
    pub(crate) fn is_failure(&self, verdict: Verdict) -> bool {
        verdict.is_retryable() || verdict == Verdict::Unknown && self.idempotent == Some(true)
    }

    /// A call of the client. If nothing else is said, the request says whether it is `idempotent`.
    pub(crate) fn run<O, T, E>(
        &self,
        policy: Policy,
        idempotent: bool,
        attempt: O,
    ) -> Run<'_, O, T, E> {
        let mut run = Run::at(self.place, policy, attempt).with_sensitive(self.sensitive);
        if let Some(name) = self.name {
            run = run.with_name(name);
        }
        if let Some(budget) = &self.budget {
            run = run.with_budget(budget);
        }
        if let Some(idempotent) = self.idempotent.or((!idempotent).then_some(false)) {
            run = run.with_idempotent(idempotent);
        }
        run
    }
}
