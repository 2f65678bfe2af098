//! What follows an attempt that failed: a wait, or the end of the call.

use std::fmt::Display;
use std::mem;
use std::time::Duration;

use super::State;
use super::attempt::Cut;
use super::decide::{Repeatable, Situation, decide, held_back};
use super::events::{Event, FailedWith};
use super::permit::{JustFailed, request};
use super::settle::Said;
use super::timers::{Next, ROUNDED};
use crate::budget::Charge;
use crate::classify::{AskedDelay, Assessment, Ruling, Verdict};
use crate::clock::Stamp;
use crate::context::{Bodies, outer};
use crate::metrics::Attempted;
use crate::report::{HedgeOutcome, PreviousFailure};
use crate::stopped::{Outcome, Stopped};

impl State<'_> {
    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, unless another body still
    /// runs, or the outcome of the call.
    #[inline(never)]
    pub(crate) fn fail(&mut self, ruling: Ruling, words: &dyn Display) -> Result<Next, Outcome> {
        self.fail_as(ruling, PreviousFailure::Failed, words)
    }

    /// The same, for a failure of another kind.
    fn fail_as(
        &mut self,
        ruling: Ruling,
        kind: fn(Verdict) -> PreviousFailure,
        words: &dyn Display,
    ) -> Result<Next, Outcome> {
        let ruling = if self.body_is_in_doubt() {
            Ruling::stop(Assessment::UNKNOWN)
        } else {
            self.harmless(ruling)
        };
        let Ruling { verdict, hint, .. } = ruling;
        self.ran |= ruling.may_have_run || self.frame.open_effect().is_some();
        if verdict == Verdict::Throttled {
            self.pause_others(hint);
        }
        let previous = kind(verdict);
        let how = Attempted::after(previous);
        let failed = FailedWith { how, words };
        if let Bodies::Both(which) = self.frame.bodies {
            if ruling.retry && !self.is_signalled() {
                self.on_body_ended(how, Some(words));
                self.frame.set_aside(previous, ruling.hint());
                self.log(Event {
                    failed: Some(failed),
                    ..Event::SET_ASIDE
                });
                // A limit may cut the other before its next poll.
                self.frame.bodies = Bodies::Only(which.other());
                return Ok(Next::Other);
            }
        }
        self.wait_or_end(previous, Repeatable::after(ruling), failed)
    }

    /// Whether a commit or a request of the attempt may have taken effect, and must not be repeated, whatever the rules say.
    #[inline]
    pub(super) fn is_in_doubt(&self) -> bool {
        self.settings.idempotent != Some(true) && self.frame.open_effect().is_some()
    }

    /// The same for a body that ended. Of two, the other one may be in its commit.
    fn body_is_in_doubt(&self) -> bool {
        let alone = !matches!(self.frame.bodies, Bodies::Both(_));
        let is_own = alone || self.frame.has_open_effect_of_body();
        is_own && self.is_in_doubt()
    }

    /// The ruling, for a function whose attempts may do harm twice.
    fn harmless(&self, ruling: Ruling) -> Ruling {
        if self.settings.idempotent == Some(false) {
            return ruling.only_without_effect();
        }
        ruling
    }

    /// Whether another attempt may follow, as far as the rules and the number of attempts say.
    pub(super) fn may_retry(&self, ruling: Ruling) -> bool {
        let is_left = self.frame.attempts_in_a_row() < self.own_attempts();
        self.harmless(ruling).retry && !self.body_is_in_doubt() && is_left && self.is_enabled()
    }

    /// Notes the delay that `retry_after` or an `Ok` asks for after the attempt that ended.
    #[inline]
    pub(crate) fn ask_delay(&self, delay: Option<Duration>) {
        if delay.is_some() {
            self.frame.rest().noted().waits.asked = delay;
        }
    }

    /// Returns the delay that `retry_after` or an `Ok` asks for after the attempt that ended.
    #[inline]
    pub(super) fn asked_delay(&self) -> Option<Duration> {
        self.frame.noted()?.waits.asked.take()
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or the end of the call.
    ///
    /// `unless` may have said something about it.
    #[inline(never)]
    pub(super) fn cut(&mut self, cut: Cut, said: Said) -> Result<Next, Stopped> {
        let verdict = self.verdict_of_cut();
        let exhausted = Outcome::Timeout;
        // The server may have completed the operation, so not every attempt may be repeated.
        let may_repeat = || {
            said != Said::Vetoed && self.settings.idempotent != Some(false) && !self.is_in_doubt()
        };
        let retry = match cut {
            Cut::Timeout | Cut::OfClient if may_repeat() => Ok(Repeatable {
                hint: None,
                exhausted,
                timed_out: true,
            }),
            Cut::Timeout | Cut::OfClient => Err(exhausted),
            Cut::Deadline => Err(Outcome::Deadline),
            Cut::NotReady => {
                let ruling = Ruling::failed_value(verdict, self.asked_delay());
                return self
                    .fail_as(ruling, |_| PreviousFailure::NotReady, &cut)
                    .map_err(|outcome| Stopped {
                        not_ready: true,
                        ..self.stopped(outcome, cut)
                    });
            }
            Cut::Late | Cut::Paused | Cut::Cancelled => return Err(self.cut_between(cut)),
        };
        let (how, words) = (Attempted::Failed(verdict), &cut);
        let failed = FailedWith { how, words };
        self.wait_or_end(PreviousFailure::TimedOut, retry, failed)
            .map_err(|outcome| self.stopped(outcome, cut))
    }

    /// Ends an attempt that failed, and then waits or ends the call.
    fn wait_or_end(
        &mut self,
        how: PreviousFailure,
        mut retry: Result<Repeatable, Outcome>,
        failed: FailedWith<'_>,
    ) -> Result<Next, Outcome> {
        self.frame.previous = Some(how);
        self.ran |= how == PreviousFailure::TimedOut;
        if let Some(mut noted) = self.frame.noted() {
            noted.in_doubt |= noted.keyed && how.may_still_run();
        }
        self.end_attempt(failed.how, Some(failed.words));
        let waits = match &mut retry {
            Ok(retry) => self.wait(retry, failed),
            Err(outcome) => Err(*outcome),
        };
        waits.inspect_err(|outcome| self.give_up(*outcome, failed))
    }

    /// Waits after such an attempt, unless no other one follows.
    #[inline]
    fn wait(&mut self, retry: &mut Repeatable, failed: FailedWith<'_>) -> Result<Next, Outcome> {
        let now = Stamp::now();
        // A client that keeps to our timeout too may be first. A hedge has the limit of the first attempt.
        let at_limit = retry.timed_out || self.frame.cut().minus(ROUNDED) <= now;
        if mem::replace(&mut self.frame.bodies, Bodies::One) != Bodies::One {
            retry.hint = self.frame.join_aside(retry.hint);
        }
        self.frame.times.start(|| now);
        let situation = self.situation(now, retry.hint);
        let mut fitted = decide(retry, self.frame.refusal(), &situation)?;
        let permit = self.take_permit(at_limit, now);
        if permit.is_none() {
            fitted = held_back(retry, &situation, Outcome::Budget)?;
        }
        let (range, is_cut) = fitted;
        self.was_cut = is_cut;
        // What comes without a permit gives nothing back.
        self.frame.go_on(permit.unwrap_or(Charge::Free));
        if let Some(mut noted) = self.frame.noted() {
            noted.go_on();
        }
        Ok(self.start_wait(range, now, Some(failed)))
    }

    /// Takes a permit for the next retry, after an attempt that maybe ended at its limit, or at one of its client. Returns what the
    /// budget charges, or `None` if it refuses.
    fn take_permit(&self, at_limit: bool, now: Stamp) -> Option<Charge> {
        let (Some(how), Some(budget)) = (self.frame.previous, self.budget()) else {
            return Some(Charge::Free);
        };
        let frame = &self.frame;
        if how == PreviousFailure::NotReady && frame.attempts_allowed().is_none() {
            // The call waits until something is ready, and nothing fails.
            return Some(Charge::Free);
        }
        let hedged = frame.hedge == Some(HedgeOutcome::Lost);
        let failed = JustFailed {
            how,
            number: frame.number() - u32::from(hedged),
            at_limit,
            progressed: frame.progressed() == frame.number(),
            was_pending: frame.was_pending,
            had_begun: budget.had_begun(frame.faults),
        };
        budget.take(request(failed), now)
    }

    /// What the decision about another attempt depends on.
    fn situation(&mut self, now: Stamp, hint: Option<AskedDelay>) -> Situation {
        let allowed = outer(|outer| self.allow_within(outer));
        let allowed = allowed.unwrap_or_else(|| self.own_attempts());
        let (frame, settings) = (&self.frame, self.settings);
        let (last, given) = frame.noted().map_or((None, None), |mut noted| {
            (noted.waits.last, noted.waits.given.take())
        });
        let throttled = frame.previous == Some(PreviousFailure::Failed(Verdict::Throttled));
        let attempts = frame.attempts_in_a_row();
        let retries = attempts.saturating_sub(1);
        Situation {
            is_exhausted: attempts >= allowed || given == Some(None),
            is_enabled: self.is_enabled(),
            max_retry_after: settings.policy.max_retry_after(),
            delays: if let Some(given) = given.flatten() {
                (given, given)
            } else if throttled && hint.is_none() {
                settings.throttled_delay_range(retries, last)
            } else {
                settings.delay_range(retries, last)
            },
            unlimited: (allowed == u32::MAX).then(|| settings.longest_delay_range()),
            time: frame.times.to_deadline(now),
            was_cut: self.was_cut,
        }
    }
}
