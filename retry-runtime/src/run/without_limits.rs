//! A policy without timeout and deadline, for error types that cannot hold a `Stopped`.

use crate::policy::Policy;
use crate::preset::Preset;
use crate::site::{Change, PolicyOf, SiteSettings};

impl Policy {
    /// Takes the timeout and the deadline out of the policy. [`run`](WithoutLimits::run) then gives the error of the operation, of any type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::Policy;
    ///
    /// const POLICY: Policy = Policy::new().with_attempts(4);
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let parsed = POLICY.without_limits().run(async || "7".parse::<u8>()).when(|_| true).await;
    /// assert_eq!(parsed, Ok(7));
    /// assert_eq!(POLICY.without_limits().policy().attempts(), Some(4));
    /// # }
    /// ```
    #[must_use]
    pub const fn without_limits(&self) -> WithoutLimits {
        WithoutLimits(self.no_limits())
    }
}

impl Preset {
    /// Takes the timeout and the deadline out of the present [`policy`](Self::policy): [`Policy::without_limits`].
    #[must_use]
    pub fn without_limits(&self) -> WithoutLimits {
        self.policy().without_limits()
    }
}

/// A policy without timeout and deadline: what [`Policy::without_limits`] returns.
///
/// Nothing stops its calls, so their error types need not hold a [`Stopped`](crate::Stopped). The attribute takes it too, as
/// `policy = self.policy.without_limits()`. The number of attempts stays. A deadline around the call, as of an annotated
/// function that makes it, cuts the attempt there. Inside, it only bounds the waits.
///
/// It has no setters, so it stays without limits. Set what it has before, or in a copy of its [`policy`](Self::policy).
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Policy, WithoutLimits};
///
/// const STORED: WithoutLimits = Policy::new().with_attempts(5).without_limits();
/// let once: WithoutLimits = STORED.policy().clone().with_attempts(1).without_limits();
/// assert_eq!(once.policy().attempts(), Some(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutLimits(Policy);

impl WithoutLimits {
    /// Returns the policy, whose timeout and deadline are `None`.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.0
    }

    /// [`Policy::of_site`].
    #[doc(hidden)]
    #[must_use]
    pub const fn of_site(&self) -> Policy {
        self.0.of_site()
    }

    /// [`Policy::lent`].
    #[doc(hidden)]
    #[must_use]
    pub const fn lent<S>(&self, site: &'static S, _: Change) -> &'static S {
        site
    }
}

impl PolicyOf for WithoutLimits {
    type Same = Self;
    type Site = SiteSettings<'static>;
    type Limits = Self;

    fn policy(&self) -> Policy {
        self.0.clone()
    }
}
