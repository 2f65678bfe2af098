//! The pause of a budget: after the hint of a server to one call, the calls that share the budget wait too.

use std::pin::Pin;
use std::time::Duration;

use super::attempt::{Cut, Limits};
use super::blocking::unless_blocking;
use super::timers::Next;
use super::{Call, NextAttemptAt, State};
use crate::clock::Stamp;
use crate::context::outer;
use crate::delays::fit;

impl<C: Limits, K> Call<'_, C, K> {
    /// Waits while the budget is in a pause. Another hint may come meanwhile, so the call asks again after each wait.
    ///
    /// # Errors
    ///
    /// - The pause does not fit the deadline.
    pub async fn pass_pause(&mut self) -> Result<(), C> {
        while let Some(at) = self.pause()? {
            at.await;
        }
        Ok(())
    }

    /// The same, for a call that blocks its thread.
    ///
    /// # Errors
    ///
    /// - The pause does not fit the deadline.
    pub fn pass_pause_blocking(&mut self) -> Result<(), C> {
        while let Some(at) = self.pause()? {
            self.wait_blocking(at);
        }
        Ok(())
    }

    /// The same, or returns `None` if the `cancel` future completes first.
    pub fn pass_pause_blocking_unless<F: Future>(
        &mut self,
        mut cancel: Pin<&mut F>,
    ) -> Option<Result<(), C>> {
        loop {
            match unless_blocking(cancel.as_mut(), || self.pause())? {
                Ok(Some(at)) => self.wait_blocking_unless(cancel.as_mut(), at)?,
                passed => return Some(passed.map(|_| ())),
            }
        }
    }

    /// Returns how long the next attempt waits, or `None` if it begins now.
    #[inline]
    fn pause(&mut self) -> Result<Option<NextAttemptAt>, C> {
        let state = &mut self.state;
        let budget = state.budget();
        if budget.is_none_or(|budget| budget.cell.is_at_rest()) {
            return Ok(None);
        }
        (state.wait_for_pause(C::LIMITED)).or_else(|cut| C::reached(cut).map(|()| None))
    }
}

impl State<'_> {
    /// Returns how long the next attempt waits for the end of the pause, or `None` if it begins now. Without limits, the attempt
    /// begins at the deadline around at the latest, because no error could say that the wait does not fit. If that deadline ends an
    /// outer call, no attempt begins.
    #[cold]
    fn wait_for_pause(&mut self, limited: bool) -> Result<Option<NextAttemptAt>, Cut> {
        self.end_wait();
        let now = Stamp::now();
        let Some((left, most)) = self.left_of_pause(now) else {
            return Ok(None);
        };
        outer(|outer| self.frame.inherit(&outer.limits()));
        // Over the first ceiling, so that the calls do not all begin at the end of the pause.
        let (low, high) = self.settings.delay_range(0, None);
        let spread = left.saturating_add(high.saturating_sub(low));
        let mut delays = (left, spread.min(most));
        match self.frame.times.to_deadline(now) {
            Some((length, left)) if limited => {
                delays = fit(delays, length, left).ok_or(Cut::Paused)?;
            }
            Some((_, left)) if left.is_zero() => {
                // An outer call whose timer rang too is polled in this turn, and drops the call.
                self.frame.rest().noted().waits.longest_pause = Some(now);
                return Ok(Some(self.next(Next::At(now, now))));
            }
            Some((_, left)) => delays = (delays.0.min(left), delays.1.min(left)),
            None => {}
        }
        let wait = self.start_wait(delays, now, None);
        Ok(Some(self.next(wait)))
    }

    /// Returns how long the pause goes on for this call, and how long the call waits at most: 1.25 times `max_retry_after` since
    /// it met the pause on its way to the next attempt. `None` if the pause is over.
    fn left_of_pause(&self, now: Stamp) -> Option<(Duration, Duration)> {
        let end = self.budget()?.paused_until(now)?;
        let now = now.plus(self.frame.passed_over());
        let patience = self.settings.policy.max_retry_after();
        let longest = now.plus(patience);
        let longest = self.frame.rest().noted().waits.pause(longest);
        let left = end.min(longest).since(now);
        (!left.is_zero()).then(|| (left, longest.since(now).saturating_add(patience / 4)))
    }

    /// Begins a pause for all calls that share the budget, after a throttled failure with this hint.
    #[cold]
    pub(super) fn pause_others(&self, hint: Option<Duration>) {
        let longest = self.settings.policy.max_retry_after();
        let hint = hint.filter(|hint| *hint <= longest);
        if let (Some(hint), Some(budget)) = (hint, self.budget()) {
            let now = Stamp::now().plus(self.frame.passed_over());
            budget.pause_until(now.plus(hint));
        }
    }
}
