//! A future whose calls do not wait, and are independent of other tests.

use std::mem;
use std::sync::Arc;

use super::log::Log;
use crate::atomics::Flag;
use crate::getters::setters;
use crate::listen::{Listener, WithReport};
use crate::policy::Policy;
use crate::preset::Preset;
use crate::test_scope::{Fault, TestScope};

/// The settings of a test scope.
///
/// A call is in the scope if it begins there: in the future that [`run`](Self::run) polls, in what
/// [`run_blocking`](Self::run_blocking) calls, or in a task that [`propagate`](crate::propagate()) carries the scope
/// to. It stays in the scope to its end. Scopes are independent, so parallel tests do not disturb each other.
///
/// Inside a scope, a call
/// - does not wait between attempts, unless you set [`with_waits`](Self::with_waits). A skipped wait still counts in
///   the report, and towards the call's own deadline;
/// - draws its jitter from the [seed](Self::with_seed), its name, and how many calls of that name began before it in
///   the scope. The same seed gives the same delays, whatever other calls do at the same time;
/// - uses a copy of its budget, which is fresh at the start of the scope. Calls in one scope that share a budget share
///   the copy;
/// - makes at most [`with_attempts`](Self::with_attempts) attempts, if that is set;
/// - has its preset as the code has it, and retries are on, unless the scope says otherwise
///   ([`with_preset`](Self::with_preset), [`with_enabled`](Self::with_enabled)). [`set_enabled`](crate::set_enabled) and
///   `configure` of the feature `serde` change the scope alone, and nothing outside.
///
/// Timeouts, deadlines and `cancel` hold as they do elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    seed: u64,
    attempts: Option<u32>,
    waits: bool,
    disabled: bool,
    presets: Vec<(&'static Preset, Policy)>,
    faults: Vec<Fault>,
}

impl Scope {
    /// Makes a scope with the seed 0, which skips waits and does not limit the attempts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the seed of the jitter. Default: 0.
        with_seed(seed: u64) => seed = seed;

        /// Limits the attempts of every call, whatever its policy. 0 counts as 1. Default: no limit.
        with_attempts(most: u32) => attempts = Some(if most == 0 { 1 } else { most });

        /// Sets whether calls wait between attempts. Default: false.
        with_waits(waits: bool) => waits = waits;

        /// Sets whether retries are on in the scope at its beginning. Default: true, whatever the switch outside.
        with_enabled(enabled: bool) => disabled = !enabled;
    }

    /// Sets the policy of a preset in the scope. Default: the policy in the code, whatever the configuration outside.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::testing::Scope;
    /// use reattempt::{Policy, Preset};
    ///
    /// static DB: Preset = Preset::new("db", Policy::new());
    ///
    /// let scope = Scope::new().with_preset(&DB, Policy::new().with_attempts(7));
    /// let (policy, _) = scope.run_blocking(|| DB.policy());
    /// assert_eq!(policy.attempts(), Some(7));
    /// assert_eq!(DB.policy().attempts(), Some(3));
    /// ```
    #[must_use]
    pub fn with_preset(mut self, preset: &'static Preset, policy: Policy) -> Self {
        self.presets.push((preset, policy));
        self
    }

    /// Gives attempts of a function a fault in place of their body. The name is the whole name of the function, of a run or of a layer,
    /// or the last parts of it (`price`, `shop::price`). Of several faults for one name, an attempt has the first one that is not used
    /// up. Default: no fault.
    ///
    /// When the scope ends, it panics if no attempt of such a function began, or if the error of the function is not `'static`.
    #[must_use]
    pub fn with_fault(mut self, name: impl Into<String>, mut fault: Fault) -> Self {
        fault.name = name.into();
        self.faults.push(fault);
        self
    }

    /// Runs a future in the scope. Returns its output, and the log of the calls that ended in it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the returned future drops `future`.
    pub fn run<F: Future>(self, future: F) -> impl Future<Output = (F::Output, Log)> {
        let scope = self.begin();
        let calls = WithReport::with(Listener::of(Arc::clone(&scope)), future);
        async move {
            let (output, _) = calls.await;
            scope.expect_faults();
            (output, Log(mem::take(&mut scope.state().ended)))
        }
    }

    /// Runs code that is not async in the scope, on this thread. Returns its output, and the log of the calls that
    /// ended in it. It needs no runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::testing::Scope;
    ///
    /// let (sum, log) = Scope::new().run_blocking(|| 2 + 2); // calls functions with `#[retry(blocking)]`
    /// assert_eq!(sum, 4);
    /// assert!(log.calls().is_empty());
    /// ```
    pub fn run_blocking<T>(self, work: impl FnOnce() -> T) -> (T, Log) {
        let scope = self.begin();
        let listener = Listener::of(Arc::clone(&scope));
        let output = listener.lend(work);
        listener.pass_on();
        scope.expect_faults();
        (output, Log(mem::take(&mut scope.state().ended)))
    }

    fn begin(self) -> Arc<TestScope> {
        let scope = TestScope {
            seed: self.seed,
            attempts: self.attempts,
            waits: self.waits,
            disabled: Flag::of(self.disabled),
            ..TestScope::default()
        };
        for (preset, policy) in self.presets {
            scope.state().presets.insert(preset.address(), policy);
        }
        scope.state().faults = self.faults;
        Arc::new(scope)
    }
}
