//! A policy without timeout and deadline, for error types that cannot hold a `Stopped`.

use std::ops::Deref;
use std::panic::Location;

use super::Run;
use crate::call::Never;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::result::ResultFuture;
use crate::site::{PolicyOf, Site, SiteSettings};

impl Policy {
    /// Takes the timeout and the deadline out of the policy. [`run`](WithoutLimits::run) then takes any error type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use retry_runtime as reattempt;
    /// use reattempt::Policy;
    ///
    /// const POLICY: Policy = Policy::new().with_attempts(4);
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let parsed = POLICY.without_limits().run(async || "7".parse::<u8>()).when(|_| true).await;
    /// assert_eq!(parsed, Ok(7));
    /// assert_eq!(POLICY.without_limits().attempts(), Some(4));
    /// # }
    /// ```
    #[must_use]
    pub const fn without_limits(self) -> WithoutLimits {
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
#[derive(Debug, Clone, Copy)]
pub struct WithoutLimits(Policy);

impl WithoutLimits {
    /// Runs an operation with retries: [`Policy::run`], for an error type that cannot hold a
    /// [`Stopped`](crate::Stopped). [`with_cancel`](Run::with_cancel) and [`until`](Run::until) need such a type, so they do not
    /// exist here.
    #[track_caller]
    pub fn run<'p, O, F, T, E>(&self, operation: O) -> Run<'p, O, T, E, false, Never, ()>
    where
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
    {
        Run::at(Location::caller(), self.0, operation)
    }

    /// Runs a closure that is not async, with retries: [`Policy::run_blocking`], for an error type that cannot hold a
    /// [`Stopped`](crate::Stopped).
    #[track_caller]
    pub fn run_blocking<'p, O, T, E>(&self, operation: O) -> Run<'p, O, T, E, false, Never, ()>
    where
        O: FnMut() -> Result<T, E>,
    {
        Run::at(Location::caller(), self.0, operation)
    }
}

/// The getters of [`Policy`]. Its timeout and its deadline are `None`.
impl Deref for WithoutLimits {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        &self.0
    }
}

impl PolicyOf for WithoutLimits {
    type Site = SiteSettings<'static>;

    fn policy(&self) -> Policy {
        self.0
    }

    fn site(site: &Site<true>) -> &SiteSettings<'static> {
        site
    }
}
