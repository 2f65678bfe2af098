//! The delays of one call, drawn from a seed.

use std::time::Duration;

use super::Policy;
use crate::clock::Stamp;
use crate::delays::fit_or_last;
use crate::rng;

impl Policy {
    /// Returns the delays of one call whose attempts all fail and take no time, in order.
    ///
    /// Calls use the same code. There is one delay for each retry that the policy allows. With a deadline, the delays
    /// end where a call would end: each leaves the next attempt a tenth of the deadline, at most 50 ms, and one whose range
    /// has to be cut for that is the last, drawn from the upper half of what is left of the range. With neither a limit on attempts nor a deadline, the iterator never ends. Hints, budgets and the
    /// time that attempts take are not included.
    ///
    /// The same seed gives the same delays in every run, but they may change with a release of Rust or of this crate.
    ///
    /// Use it to see what a policy does, or to wait in your own loop.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use std::time::Duration;
    ///
    /// use reattempt::{Jitter, Policy};
    ///
    /// const POLICY: Policy = Policy::new().with_attempts(4).with_deadline(Duration::from_secs(1));
    ///
    /// let waits: Vec<Duration> = POLICY.schedule(7).collect();
    /// assert_eq!(waits.len(), 3);
    /// assert!(waits.iter().sum::<Duration>() <= Duration::from_millis(950));
    ///
    /// let fixed = POLICY.with_jitter(Jitter::None).schedule(7);
    /// assert_eq!(fixed.map(|wait| wait.as_millis()).collect::<Vec<_>>(), [100, 200, 400]);
    /// ```
    pub fn schedule(&self, seed: u64) -> Schedule {
        Schedule {
            policy: self.clone(),
            seed,
            retries: 0,
            previous: None,
            waited: Duration::ZERO,
            was_cut: false,
        }
    }

    /// Returns the delays of one call, as [`schedule`](Self::schedule), with a seed that no other call has.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::Policy;
    ///
    /// const POLICY: Policy = Policy::new().with_attempts(10);
    ///
    /// let [one, two] = [(); 2].map(|()| POLICY.random_schedule().collect::<Vec<_>>());
    /// assert_ne!(one, two);
    /// ```
    pub fn random_schedule(&self) -> Schedule {
        self.schedule(rng::seed(Stamp::now()))
    }
}

/// The delays of one call: the iterator that [`Policy::schedule`] and [`Policy::random_schedule`] return.
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Schedule {
    policy: Policy,
    seed: u64,
    /// How many delays were drawn.
    retries: u32,
    previous: Option<Duration>,
    waited: Duration,
    /// The last delay was cut to the deadline.
    was_cut: bool,
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let most = self.policy.attempts();
        if self.was_cut || most.is_some_and(|most| self.retries >= most - 1) {
            return None;
        }
        let mut range = self.policy.range_before(self.retries, self.previous);
        if let Some(deadline) = self.policy.deadline() {
            let left = deadline.saturating_sub(self.waited);
            (range, self.was_cut) = fit_or_last(range, deadline, left)?;
        }
        let delay = rng::draw(rng::seed_of((self.seed, self.retries)), range);
        self.retries = self.retries.saturating_add(1);
        self.previous = Some(delay);
        self.waited = self.waited.saturating_add(delay);
        Some(delay)
    }
}
