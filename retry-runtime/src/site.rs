//! What is known of an annotated function before it is called.

use crate::atomics::Flag;
use crate::budget::Budget;
use crate::context::{Function, Nested, length};
use crate::policy::Policy;

/// An annotated function. One `static` in each.
///
/// `LIMITED` says whether a timer may cut its attempts. It is a type's parameter, so that a function
/// without timeout and deadline has no timer in its future, and need not have an error that can say
/// "timed out".
#[derive(Debug)]
pub struct Site<const LIMITED: bool> {
    settings: Settings,
}

/// What all calls of an annotated function share. One `static` in each.
#[derive(Debug)]
pub struct Shared {
    /// Whether an event said that the function has fewer attempts within another.
    told: Flag,
    /// The budget of a function that names none.
    budget: Budget,
}

impl Shared {
    /// A full budget.
    #[expect(
        clippy::new_without_default,
        reason = "generated code calls it in a `static`"
    )]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            told: Flag::new(),
            budget: Budget::new(),
        }
    }
}

/// What a call goes by: the function's name, a policy, and what bounds its retries.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    name: &'static str,
    shared: &'static Shared,
    budget: Option<&'static Budget>,
    policy: Policy,
    /// The limits of the policy as a frame keeps them.
    timeout: u64,
    deadline: u64,
    attempts: u32,
    nested: Nested,
    idempotent: bool,
    listens: bool,
}

impl<const LIMITED: bool> Site<LIMITED> {
    /// Describes an annotated function.
    #[must_use]
    pub const fn new(name: &'static str, policy: Policy, shared: &'static Shared) -> Self {
        Self {
            settings: Settings {
                name,
                shared,
                budget: Some(&shared.budget),
                policy,
                timeout: length(policy.timeout()),
                deadline: length(policy.deadline()),
                attempts: attempts_of(&policy),
                nested: Nested::Add,
                idempotent: true,
                listens: false,
            },
        }
    }

    /// Sets what bounds the retries of all its calls together.
    #[must_use]
    pub const fn with_budget(mut self, budget: &'static Budget) -> Self {
        self.settings.budget = Some(budget);
        self
    }

    /// Retries whatever it costs.
    #[must_use]
    pub const fn without_budget(mut self) -> Self {
        self.settings.budget = None;
        self
    }

    /// Sets how its retries combine with those of the calls around.
    #[must_use]
    pub const fn with_nested(mut self, nested: Nested) -> Self {
        self.settings.nested = nested;
        self
    }

    /// Says that an attempt may not run twice: only what provably never ran is retried.
    #[must_use]
    pub const fn not_idempotent(mut self) -> Self {
        self.settings.idempotent = false;
        self
    }

    /// Says that a hook wants to know how long the call took, so that the clock is read for it.
    #[must_use]
    pub const fn with_listener(mut self) -> Self {
        self.settings.listens = true;
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
            timeout: length(policy.timeout()),
            deadline: length(policy.deadline()),
            attempts: attempts_of(&policy),
            policy,
            ..self.settings
        }
    }
}

impl Settings {
    /// The label in events and metrics.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// What tells the function from every other.
    pub(crate) fn function(&self) -> Function {
        Function::of(self.shared)
    }

    /// Says, the first time, that the function has fewer attempts within another.
    pub(crate) fn told(&self) -> &'static Flag {
        &self.shared.told
    }

    /// Whether an attempt may run again after one that may have run.
    pub(crate) const fn is_idempotent(&self) -> bool {
        self.idempotent
    }

    /// Whether a hook wants to know how long the call took.
    #[inline]
    pub(crate) const fn listens(&self) -> bool {
        self.listens
    }

    /// How its retries combine with those of the calls around.
    pub(crate) const fn nested(&self) -> Nested {
        self.nested
    }

    /// What bounds the retries of all its calls together.
    #[inline]
    pub(crate) const fn budget(&self) -> Option<&'static Budget> {
        self.budget
    }

    pub(crate) const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Calls in all; `u32::MAX` for no limit.
    #[inline]
    pub(crate) const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The limit of one attempt, in nanoseconds.
    #[inline]
    pub(crate) const fn timeout(&self) -> u64 {
        self.timeout
    }

    /// The limit of the whole call, in nanoseconds.
    #[inline]
    pub(crate) const fn deadline(&self) -> u64 {
        self.deadline
    }
}

const fn attempts_of(policy: &Policy) -> u32 {
    match policy.attempts() {
        Some(attempts) => attempts,
        None => u32::MAX,
    }
}
