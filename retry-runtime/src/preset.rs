//! Policies with a name.

#[cfg(all(test, feature = "config"))]
mod interleavings;
#[cfg(feature = "config")]
mod overridden;

use std::sync::OnceLock;

#[cfg(feature = "config")]
use self::overridden::Overridden;
use crate::budget::BudgetWord;
use crate::listen::test_scope_around;
use crate::policy::Policy;

/// A policy with a name, for a `static`: the settings of all calls to one service.
///
/// Name it in the attribute with a `&`: `#[retry(policy = &PAYMENTS)]`. Other keys of the attribute override it. A
/// call reads its policy once, when it begins. With the feature `config`, files and environment variables can override
/// the policy, also while the program runs.
///
/// If the policy has a budget ([`Policy::with_budget`]), all functions that use the preset share it. Otherwise each has
/// its default.
///
/// The error type of the function must be able to hold a [`Stopped`](crate::Stopped), because a preset may have a
/// timeout or a deadline.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use std::time::Duration;
///
/// use reattempt::{Policy, Preset};
///
/// static PAYMENTS: Preset = Preset::new(
///     "payments",
///     Policy::new().with_attempts(4).with_timeout(Duration::from_millis(800)),
/// );
///
/// assert_eq!(PAYMENTS.name(), "payments");
/// assert_eq!(PAYMENTS.policy().attempts(), Some(4));
/// ```
#[derive(Debug)]
pub struct Preset {
    name: &'static str,
    policy: Policy,
    /// The word of the budget, made at the first use and never dropped, because a policy is `Copy` and may live as long as
    /// the program.
    word: OnceLock<&'static BudgetWord>,
    #[cfg(feature = "config")]
    overridden: Overridden,
}

impl Preset {
    /// Makes a preset from a name and a policy.
    ///
    /// A name has ASCII letters, digits, `-`, `_` and `.`, and at least one letter or digit.
    ///
    /// # Panics
    ///
    /// - If `name` has no letter or digit, or a character that is not allowed. In a `static`, that is a compile
    ///   error.
    /// - If `name` is `enabled`, which is a key of the configuration.
    #[must_use]
    pub const fn new(name: &'static str, policy: Policy) -> Self {
        check(name.as_bytes());
        Self {
            name,
            policy,
            word: OnceLock::new(),
            #[cfg(feature = "config")]
            overridden: Overridden::new(),
        }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the policy of a call that begins now: the policy in the code, with the overrides of the configuration.
    ///
    /// Without the feature `config`, it is always the policy in the code. With the feature, this costs one relaxed load
    /// and a copy until the preset is overridden for the first time.
    ///
    /// In a test scope, it is the policy of the scope: the one in the code, unless the scope has another.
    #[must_use]
    #[inline]
    pub fn policy(&self) -> Policy {
        let policy = match test_scope_around() {
            Some(scope) => scope.policy(self.address()).unwrap_or(self.policy),
            None => self.policy_outside(),
        };
        policy.sharing(|| self.word())
    }

    /// The address, by which test scopes know the preset.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline]
    fn policy_outside(&self) -> Policy {
        #[cfg(feature = "config")]
        return self.overridden.or(&self.policy);
        #[cfg(not(feature = "config"))]
        self.policy
    }

    /// Returns the tokens left in the budget that all functions with this preset share, or `None` if the policy has no
    /// budget of its own.
    ///
    /// When the numbers change at a reload, the tokens that are missing stay missing. Inside a test scope it is the level
    /// outside, because a scope has its own budgets.
    #[must_use]
    pub fn budget_level(&self) -> Option<f64> {
        Some(self.shared_outside().shared_budget()?.level())
    }

    /// The policy outside of test scopes, with the word of its budget.
    fn shared_outside(&self) -> Policy {
        self.policy_outside().sharing(|| self.word())
    }

    #[cold]
    fn word(&self) -> &'static BudgetWord {
        self.word
            .get_or_init(|| Box::leak(Box::new(BudgetWord::full())))
    }

    /// The policy in the code.
    #[cfg(feature = "config")]
    pub(crate) const fn in_code(&self) -> Policy {
        self.policy
    }

    /// Sets the policy of calls that begin from now on, outside of test scopes. `None` is the policy in the code.
    #[cfg(feature = "config")]
    pub(crate) fn set_override(&self, policy: Option<Policy>) {
        if let Some(budget) = self.shared_outside().shared_budget() {
            budget.settle();
        }
        self.overridden.set(policy);
    }
}

/// Refuses names that a configuration cannot contain.
const fn check(name: &[u8]) {
    let (mut at, mut words) = (0, false);
    while at < name.len() {
        match name[at] {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => words = true,
            b'-' | b'_' | b'.' => {}
            _ => panic!("a preset's name has ASCII letters, digits, `-`, `_` and `.` only"),
        }
        at += 1;
    }
    assert!(words, "a preset's name has a letter or a digit");
    assert!(
        !matches!(name, b"enabled"),
        "a preset cannot have the name `enabled`, which is a setting"
    );
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_name_that_configuration_cannot_spell_is_refused() {
        for name in ["payments", "pay-ments", "db.read", "S3", "a_b", "7"] {
            assert_eq!(Preset::new(name, Policy::new()).name(), name);
        }
        for name in [
            "",
            "-",
            "..",
            "pay ments",
            "zahlungen.für",
            "a=b",
            "enabled",
        ] {
            let made = catch_unwind(|| Preset::new(name, Policy::new()));
            assert!(made.is_err(), "{name}");
        }
    }
}
