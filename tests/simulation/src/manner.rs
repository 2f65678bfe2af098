//! How the clients of a fleet retry.

use std::time::Duration;

use reattempt::{Budget, Jitter, Policy};

/// How the clients of a fleet retry.
#[derive(Debug, Clone)]
pub struct Manner {
    /// The name in tables and pictures.
    pub name: &'static str,
    /// Whether the library has it by default. Only tables say so.
    pub is_default: bool,
    /// Attempts, timeout and delays.
    pub policy: Policy,
    /// Makes the budget of each process.
    pub budget: Option<fn() -> Budget>,
    /// Whether all processes have one budget: the ideal of a budget in a server such as Redis, which answers at once, is
    /// never down and forgets nothing.
    pub shared: bool,
}

/// The timeout of the clients, which is their only setting.
pub const TIMEOUT: Duration = Duration::from_millis(500);

const DEFAULTS: Policy = Policy::new().with_timeout(TIMEOUT);

impl Manner {
    /// One attempt.
    pub const NONE: Self = Self {
        name: "no retries",
        is_default: false,
        policy: DEFAULTS.with_attempts(1),
        budget: None,
        shared: false,
    };
    /// Three attempts without waits.
    pub const NAIVE: Self = Self {
        name: "naive retries",
        policy: DEFAULTS.with_base(Duration::ZERO).with_jitter(Jitter::None),
        ..Self::NONE
    };
    /// The defaults without the budget.
    pub const BACKOFF: Self = Self {
        name: "backoff and jitter",
        policy: DEFAULTS,
        ..Self::NONE
    };
    /// The defaults with the budget of the AWS SDKs.
    pub const AWS: Self = Self::BACKOFF.with_budget("`Budget::aws()`", Budget::aws);
    /// The defaults.
    pub const BUDGET: Self = Self {
        is_default: true,
        ..Self::BACKOFF.with_budget("`Budget::new()`", Budget::new)
    };
    /// The defaults with the budget for large fleets of small processes.
    pub const SMALL: Self = Self::BACKOFF.with_budget("`Budget::new().with_capacity(14)`", || {
        Budget::new().with_capacity(14)
    });

    /// The defaults with one budget for the whole fleet.
    pub const SHARED: Self = Self {
        shared: true,
        ..Self::BACKOFF.with_budget("one `Budget::new()` for the whole fleet", Budget::new)
    };

    /// The manners in the pictures.
    pub const ALL: [Self; 6] = [
        Self::NONE,
        Self::NAIVE,
        Self::BACKOFF,
        Self::AWS,
        Self::BUDGET,
        Self::SMALL,
    ];

    /// The name in tables, which says what is the default.
    #[must_use]
    pub fn in_tables(&self) -> String {
        let default = if self.is_default { ", the default" } else { "" };
        format!("{}{default}", self.name)
    }

    /// The same with another budget.
    #[must_use]
    pub const fn with_budget(self, name: &'static str, budget: fn() -> Budget) -> Self {
        Self {
            name,
            budget: Some(budget),
            ..self
        }
    }
}
