//! What a call keeps, whatever the types of its function.

use std::time::Duration;

use crate::budget::Charge;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::context::{Frame, Inner, Notes, Previous};
use crate::listen::is_listening;
use crate::metrics;
use crate::policy::Policy;
use crate::site::Settings;
use crate::trace;

/// The part of a call that does not depend on the function's types: 56 bytes of every future.
#[derive(Debug)]
pub(crate) struct State<'p> {
    pub(super) settings: &'p Settings<'p>,
    /// What the code inside sees.
    pub(super) frame: Frame,
}

impl<'p> State<'p> {
    #[inline]
    pub(super) fn new(settings: &'p Settings<'p>, timeout: u64, deadline: u64) -> Self {
        Self {
            settings,
            frame: Frame::new(settings.attempts(), timeout, deadline),
        }
    }

    pub(super) fn policy(&self) -> &'p Policy {
        self.settings.policy()
    }

    /// The call as one within others.
    pub(super) fn inner(&self) -> Inner<'p> {
        Inner {
            function: self.settings.function(),
            policy: self.settings.policy(),
            nested: self.settings.nested(),
        }
    }

    /// Takes note that the code inside is pending.
    #[inline]
    pub(super) fn suspended(&self) {
        self.leave_attempt();
        // What fails later fails for another reason.
        self.frame.refusal.set(None);
        if self.frame.notes.get() == Notes::New {
            self.hand_on();
        }
    }

    /// Leaves with the call around what was retried in vain here, this call's own retries included.
    #[cold]
    pub(super) fn hand_on(&self) {
        if self.frame.notes.get().is_in_vain() {
            let retries = self.frame.number.get().saturating_sub(1);
            self.inner().hand_on(&self.frame, retries);
        }
    }

    /// Whether somebody may want to know how long the call took.
    #[inline]
    pub(super) fn is_heard(&self) -> bool {
        self.settings.listens() || trace::is_heard() || is_listening() || metrics::is_recording()
    }

    /// How long the call has taken, if time has begun to count.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        let started = self.frame.started.get()?;
        Some(Stamp::now().since(started))
    }
}

/// What a retry is asked for as.
pub(super) fn charge(previous: Previous) -> Charge {
    match previous {
        Previous::Failed(Verdict::Throttled) => Charge::Throttled,
        Previous::Failed(_) => Charge::Failure,
        Previous::TimedOut => Charge::Timeout,
    }
}
