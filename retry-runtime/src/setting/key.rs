//! The keys of the configuration: the keys of the attribute that belong to a policy.

use std::fmt;

use retry_settings::text;

use super::fault::SettingFault;

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyKey {
    Attempts,
    Timeout,
    Deadline,
    Backoff,
    Base,
    MaxDelay,
    Factor,
    Jitter,
    /// Configuration cannot set this key. It is here so that the message says why.
    Delays,
    MaxRetryAfter,
}

impl PolicyKey {
    /// The keys that configuration can set.
    pub(crate) const ALL: [Self; 9] = [
        Self::Attempts,
        Self::Timeout,
        Self::Deadline,
        Self::Backoff,
        Self::Base,
        Self::MaxDelay,
        Self::Factor,
        Self::Jitter,
        Self::MaxRetryAfter,
    ];

    /// The names of the keys that configuration can set.
    pub(crate) fn names() -> [&'static str; 9] {
        Self::ALL.map(Self::name)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Timeout => "timeout",
            Self::Deadline => "deadline",
            Self::Backoff => "backoff",
            Self::Base => "base",
            Self::MaxDelay => "max_delay",
            Self::Factor => "factor",
            Self::Jitter => "jitter",
            Self::Delays => "delays",
            Self::MaxRetryAfter => "max_retry_after",
        }
    }

    /// What messages call a value of this key.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Attempts => "a whole number from 1, or \"unlimited\"",
            Self::Timeout
            | Self::Deadline
            | Self::Base
            | Self::MaxDelay
            | Self::Delays
            | Self::MaxRetryAfter => "a duration",
            Self::Backoff => "the name of a backoff",
            Self::Factor => "a number from 1 to 1000",
            Self::Jitter => "the name of a jitter",
        }
    }

    /// A value to paste.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Attempts => "4",
            Self::Timeout => "\"1.5s\"",
            Self::Deadline => "\"5s\"",
            Self::Backoff => "\"exponential\"",
            Self::Base => "\"100ms\"",
            Self::Delays => "\"200ms\"",
            Self::MaxDelay => "\"20s\"",
            Self::Factor => "2.0",
            Self::Jitter => "\"full\"",
            Self::MaxRetryAfter => "\"60s\"",
        }
    }

    /// The fault of the key `delays`. A policy borrows its delays for `'static`, so a list that is read would leak.
    pub(crate) fn delays_refused() -> SettingFault {
        SettingFault::with_help(
            "`delays` cannot be configured",
            "a list of delays belongs in the code: `Policy::with_delays`, or the attribute's `delays`",
        )
    }

    /// Returns the key with this name, if configuration can set it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The fault of a name for which [`named`](Self::named) has no key.
    pub(crate) fn unknown(name: &str) -> SettingFault {
        // Names for a number that does not count the first call.
        const RETRIES: &str = "retries max_retries retry_count max_retry retry_limit";
        if name == Self::Delays.name() {
            return Self::delays_refused();
        }
        if text::among(RETRIES, &text::snake_case(name)) {
            return SettingFault::with_help(
                format!("unknown key `{name}`, called `attempts` here"),
                "`attempts` counts the first call as well: 3 retries are 4 attempts",
            );
        }
        let problem = format!("unknown key `{}`", text::shown(name));
        let keys = format!("the keys are {}", text::list(Self::names(), ", "));
        match text::nearest(name, Self::names()) {
            Some(nearest) => {
                SettingFault::with_help(problem, format!("did you mean `{nearest}`? {keys}"))
            }
            None => SettingFault::with_help(problem, keys),
        }
    }
}

impl fmt::Display for PolicyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
