//! What is known of an annotated function before it is called.

use std::sync::Once;

use crate::context::Kind;
use crate::{Budget, Nested, Policy};

/// An annotated function. One `static` in each.
///
/// `LIMITED` says whether a timer may cut its attempts. It is a type's parameter, so that a function
/// without timeout and deadline has no timer in its future, and need not have an error that can say
/// "timed out".
#[derive(Debug)]
pub struct Site<const LIMITED: bool> {
    settings: Settings,
}

/// What a call goes by: the function's name, a policy, and what bounds its retries.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    name: &'static str,
    policy: Policy,
    idempotent: bool,
    nested: Nested,
    kind: Kind,
    /// Whether it was said that the function has fewer attempts within another.
    noted: &'static Once,
    budget: Option<&'static Budget>,
}

impl<const LIMITED: bool> Site<LIMITED> {
    /// Describes an annotated function.
    #[must_use]
    pub const fn new(name: &'static str, policy: Policy, noted: &'static Once) -> Self {
        Self {
            settings: Settings {
                name,
                policy,
                idempotent: true,
                nested: Nested::Add,
                kind: kind_of(&policy, Nested::Add),
                noted,
                budget: None,
            },
        }
    }

    /// Sets what bounds the retries of all its calls together.
    #[must_use]
    pub const fn with_budget(mut self, budget: &'static Budget) -> Self {
        self.settings.budget = Some(budget);
        self
    }

    /// Sets how its retries combine with those of the calls around.
    #[must_use]
    pub const fn with_nested(mut self, nested: Nested) -> Self {
        self.settings.nested = nested;
        self.settings.kind = kind_of(&self.settings.policy, nested);
        self
    }

    /// Says that an attempt may not run twice: only what provably never ran is retried.
    #[must_use]
    pub const fn not_idempotent(mut self) -> Self {
        self.settings.idempotent = false;
        self
    }

    /// The settings of each call that brings none of its own.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings with another policy.
    #[must_use]
    pub fn with_policy(&self, change: impl FnOnce(Policy) -> Policy) -> Settings {
        let policy = change(self.settings.policy);
        Settings {
            kind: kind_of(&policy, self.settings.nested),
            policy,
            ..self.settings
        }
    }
}

impl Settings {
    /// The label in events and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether an attempt may run again after one that may have run.
    #[must_use]
    pub const fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    /// What is said of each attempt to the code in it.
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// How its retries combine with those of the calls around.
    #[must_use]
    pub const fn nested(&self) -> Nested {
        self.nested
    }

    /// Whether it was said that the function has fewer attempts within another.
    #[must_use]
    pub const fn noted(&self) -> &'static Once {
        self.noted
    }

    /// What bounds the retries of all its calls together.
    #[must_use]
    pub const fn budget(&self) -> Option<&'static Budget> {
        self.budget
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }
}

const fn kind_of(policy: &Policy, nested: Nested) -> Kind {
    let attempts = match policy.attempts() {
        Some(attempts) => attempts,
        None => u32::MAX,
    };
    Kind::new(attempts, nested)
}
