//! A call inside an attempt of another call: what it reads from the frame of that call, and what it writes there.
//!
//! All of this runs while the thread-local points at the outer frame: before or after the poll of the inner call's
//! attempt.

use std::sync::Arc;

use super::State;
use super::events::Event;
use crate::clock::Stamp;
use crate::context::{Allowed, Frame, Leeway, Phase, outer};
use crate::policy::Nested;
use crate::stopped::Outcome;

impl State<'_> {
    /// Begins an attempt inside another frame: inherits what is known there.
    pub(super) fn begin_within(&mut self, outer: &Frame) {
        let begins = self.frame.phase() == Phase::New;
        let follows = begins && outer.follows_refusal();
        self.follows_refusal = follows;
        let outermost = self.is_outermost(outer);
        let Allowed { leeway, again } = outer.inside();
        let again = self.frame.inside.again || again && !outermost;
        self.frame.inside = Allowed { leeway, again };
        if begins && outer.is_call() && !outermost {
            let prepares = matches!(outer.phase(), Phase::Preparation(_));
            let (number, function) = (outer.present(), self.settings.function());
            let around = outer.node.get_or_init(Arc::default);
            let node = around.begin(number, (prepares, follows), function, Stamp::now);
            let _ = self.frame.node.set(node);
        }
        let idempotent = self.settings.idempotent;
        if idempotent != Some(true) && (outer.is_call() || outer.is_attempt()) {
            if begins {
                self.frame.begin_within(outer);
            }
            if idempotent == Some(false) && !self.settings.opens_requests {
                self.frame.open_call();
            }
        }
        self.allow_within(outer);
    }

    /// Finds out how many attempts the call may make within the outer attempt, and returns it. It may make fewer than its own if the
    /// same operation had failed retries.
    pub(super) fn allow_within(&mut self, outer: &Frame) -> u32 {
        let own = self.own_attempts();
        if self.is_outermost(outer) {
            return own;
        }
        let only_one = outer.inside().leeway == Leeway::Nothing
            || self.settings.policy.nested() == Nested::Outermost;
        let most = self.settings.policy.most_attempts();
        let allowed = match self.frame.node.get() {
            // Whatever its policy says.
            _ if only_one => 1,
            Some(node) if most < u32::MAX => most.saturating_sub(node.taken(Stamp::now)).max(1),
            _ => most,
        };
        let allowed = allowed.min(own);
        self.frame.allow(allowed);
        if allowed < own && self.frame.attempts_in_a_row() >= allowed {
            let fewer = Some((allowed, own));
            self.log(Event {
                fewer,
                ..Event::FEWER_ATTEMPTS
            });
        }
        allowed
    }

    /// Reports to the outer calls how many retries this call made. They count as failed until the call succeeds.
    pub(super) fn note_retries(&self) {
        if let Some(node) = self.frame.node.get() {
            let until = Stamp::now().plus(self.settings.policy.max_delay());
            node.set(self.frame.attempts_in_a_row().saturating_sub(1), until);
        }
    }

    /// Reports to the outer call that this call was refused a retry, unless that was by a deadline of this call alone. If it failed
    /// for another reason after the refusal of another one, the body went on after that.
    pub(super) fn refuse_around(&self, outcome: Outcome) {
        let refusal = match outcome {
            Outcome::Budget | Outcome::HintTooLong | Outcome::Cancelled => Some(outcome),
            Outcome::Deadline | Outcome::Paused => Some(Outcome::Deadline),
            _ => self.frame.refusal(),
        };
        outer(|outer| {
            let is_own = || !self.frame.shares_deadline_of(outer);
            let refusal = refusal.filter(|refusal| *refusal != Outcome::Deadline || !is_own());
            outer.refuse(refusal, self.follows_refusal);
        });
    }

    /// Whether the call counts as an outermost call here.
    fn is_outermost(&self, outer: &Frame) -> bool {
        let is_scope = outer.phase() == Phase::Scope && outer.inside().leeway != Leeway::Nothing;
        self.settings.policy.nested() == Nested::Multiply || is_scope
    }
}
