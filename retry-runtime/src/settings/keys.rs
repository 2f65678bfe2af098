//! The keys of a policy.

use serde::{Deserialize, Serialize};

use super::budget::BudgetKeys;
use super::value::{AboveZero, Bounded, Length, Number, Whole, set, word};
use crate::policy::Policy;
use crate::{Backoff, Jitter};

/// As they are read and written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Keys {
    attempts: Option<Attempts>,
    pub(super) timeout: Option<AboveZero>,
    pub(super) deadline: Option<AboveZero>,
    #[serde(deserialize_with = "word")]
    pub(super) backoff: Option<Backoff>,
    pub(super) base: Option<Length>,
    pub(super) throttled_base: Option<Length>,
    pub(super) min_delay: Option<Length>,
    pub(super) max_delay: Option<AboveZero>,
    factor: Option<Number<1, 1000>>,
    jitter: Option<Jitter>,
    max_retry_after: Option<Length>,
    pub(super) hedge: Option<AboveZero>,
    budget: Option<BudgetKeys>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a whole number from 1 to 4294967294, or \"unlimited\""
)]
enum Attempts {
    /// `u32::MAX` is no limit in a policy, so no one who writes it means it.
    Number(Whole<1, { u32::MAX - 1 }>),
    Word(Unlimited),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unlimited {
    Unlimited,
}

impl Keys {
    /// Returns the policy with these settings in place of its own.
    pub(super) fn over(&self, policy: Policy) -> Result<Policy, &'static str> {
        let mut changed = match self.attempts {
            Some(Attempts::Number(attempts)) => policy.with_attempts(attempts.0),
            Some(Attempts::Word(Unlimited::Unlimited)) => policy.with_unlimited_attempts(),
            None => policy,
        };
        set!(self over changed: timeout with_timeout.0, deadline with_deadline.0, backoff with_backoff,
            base with_base.0, throttled_base with_throttled_base.0, min_delay with_min_delay.0,
            max_delay with_max_delay.0, factor with_factor.0, jitter with_jitter,
            max_retry_after with_max_retry_after.0, hedge with_hedge.0);
        match self.budget {
            Some(budget) => budget.over(changed),
            None => Ok(changed),
        }
    }

    /// The settings that make this policy of [`Policy::new`].
    pub(super) fn of(policy: &Policy) -> Self {
        Self {
            attempts: Some(match policy.attempts() {
                Some(attempts) => Attempts::Number(Whole(attempts)),
                None => Attempts::Word(Unlimited::Unlimited),
            }),
            timeout: policy.timeout().map(Bounded),
            deadline: policy.deadline().map(Bounded),
            backoff: Some(policy.backoff()),
            base: Some(Bounded(policy.base())),
            throttled_base: policy.throttled_base().map(Bounded),
            min_delay: Some(Bounded(policy.min_delay())),
            max_delay: Some(Bounded(policy.max_delay())),
            factor: policy.given_factor().map(Number),
            jitter: Some(policy.jitter()),
            max_retry_after: Some(Bounded(policy.max_retry_after())),
            hedge: policy.hedge().map(Bounded),
            budget: BudgetKeys::of(policy.budget()),
        }
    }
}
