//! The settings of a client whose requests are calls: a layer of `tower`, or a middleware of `reqwest-middleware`.

use std::panic::Location;
use std::sync::Arc;

use crate::call::Cut;
use crate::policy::Policy;
use crate::result::ByFrom;
use crate::run::Run;
use crate::site::{BudgetOf, PolicyOf};

#[derive(Clone)]
pub(crate) struct ClientSettings {
    policy: Arc<dyn Fn() -> Policy + Send + Sync>,
    pub(crate) place: &'static Location<'static>,
    pub(crate) name: Option<&'static str>,
    pub(crate) budget: Option<Arc<dyn BudgetOf + Send + Sync>>,
    pub(crate) sensitive: bool,
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
        }
    }

    /// Returns the present policy, with one attempt for a request that cannot be copied.
    pub(crate) fn policy(&self, has_copy: bool) -> Policy {
        let policy = (self.policy)();
        if has_copy {
            policy
        } else {
            policy.with_attempts(1)
        }
    }

    /// A call of the client.
    pub(crate) fn run<O, T, E>(
        &self,
        policy: Policy,
        attempt: O,
    ) -> Run<'_, O, T, E, false, Cut, ByFrom> {
        let mut run = Run::at(self.place, policy, attempt).with_sensitive(self.sensitive);
        if let Some(name) = self.name {
            run = run.with_name(name);
        }
        if let Some(budget) = &self.budget {
            run = run.with_budget(budget);
        }
        run
    }
}
