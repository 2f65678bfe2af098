//! What is known of an annotated function before it is called.

use crate::Policy;

/// An annotated function: its name and its policy. One `static` in each.
///
/// `LIMITED` says whether a timer may cut its attempts. It is a type's parameter, so that a function
/// without timeout and deadline has no timer in its future, and need not have an error that can say
/// "timed out".
#[derive(Debug)]
pub struct Site<const LIMITED: bool> {
    name: &'static str,
    policy: Policy,
}

impl<const LIMITED: bool> Site<LIMITED> {
    /// Describes an annotated function.
    #[must_use]
    pub const fn new(name: &'static str, policy: Policy) -> Self {
        Self { name, policy }
    }

    /// The label in events and metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The settings of each call that brings none of its own.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }
}
