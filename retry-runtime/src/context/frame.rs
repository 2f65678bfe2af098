//! What a call shares with the code inside its attempts, and the pointer by which that code finds it.
//!
//! The future of a call holds one [`Frame`], which it alone changes. While an attempt is polled, a scoped thread-local points at it,
//! and no one changes it. The code inside only leaves a note, which lives as long as the poll.
//!
//! ```text
//! poll of the outer call        the pointer: unset, or at what lies around
//!   lend ─ poll of its body     the pointer: at the outer call's frame
//!     poll of an inner call
//!       lend ─ poll of body     the pointer: at the inner call's frame
//!     the inner call decides    the pointer: at the outer call's frame, which it reads, and where it leaves its note
//! ```

mod limits;
mod note;

use std::cell::{Cell, OnceCell};
use std::mem;
use std::sync::{Arc, MutexGuard};

use scoped_tls_hkt::ScopedKey;

pub(crate) use self::note::beside_body;
use super::nesting::Node;
use super::phase::{Allowed, Bodies, Leeway, Phase, Times};
use super::rest::{Noted, OpenEffect, Rest};
use crate::budget::Charge;
use crate::clock::Stamp;
use crate::report::{HedgeOutcome, PreviousFailure, Which};
use crate::stopped::{Effect, Outcome};

/// What `scoped_thread_local!` makes, but as a `const`, which other crates can see into: each poll of an attempt sets it.
const FRAME: ScopedKey<Frame> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Frame>> = const { Cell::new(None) });
        &POINTER
    },
};

/// What a call shares with the code inside its attempts.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) times: Times,
    phase: Phase,
    /// The bodies of the present attempt, or of the last one.
    pub(crate) bodies: Bodies,
    /// Attempts begun, the current one and a hedge included.
    number: u32,
    /// How many the call may make here in a row without progress, or `u32::MAX` for no limit.
    most: u32,
    /// How long the timeout of the present attempt is, which begins again after progress: nanoseconds, or `u64::MAX` for none.
    pub(crate) timeout: u64,
    /// What calls inside an attempt may do, unless it is a hedge.
    pub(crate) inside: Allowed,
    /// How the last attempt failed.
    pub(crate) previous: Option<PreviousFailure>,
    /// What became of its hedge, once it was wanted.
    pub(crate) hedge: Option<HedgeOutcome>,
    /// How many faults of its budget had begun when the call began.
    pub(crate) faults: u32,
    /// The deadline is that of an outer call or of a scope, and not the call's own.
    pub(crate) inherits: bool,
    /// The call was pending. Until then, calls that were made with it may not have begun.
    pub(crate) was_pending: bool,
    /// What the last poll of the body left: the outcome of a call inside that was refused a retry.
    refusal: Cell<Option<Outcome>>,
    /// What is known of retries here, if the call is within another one or has calls inside.
    pub(crate) node: OnceCell<Arc<Node>>,
    /// What most calls never need, if it was needed.
    pub(crate) rest: OnceCell<Arc<Rest>>,
}

impl Frame {
    /// The frame of a call with this time and these limits.
    #[inline]
    pub(crate) fn new(times: Times, rest: Option<Arc<Rest>>) -> Self {
        let (leeway, again) = (Leeway::Anything, false);
        Self {
            times,
            phase: Phase::New,
            bodies: Bodies::One,
            number: 0,
            most: 0,
            timeout: u64::MAX,
            inside: Allowed { leeway, again },
            previous: None,
            hedge: None,
            faults: 0,
            inherits: false,
            was_pending: false,
            refusal: Cell::new(None),
            node: OnceCell::new(),
            rest: rest.map_or_else(OnceCell::new, OnceCell::from),
        }
    }

    /// The frame of a scope with this deadline, for code without an outer call.
    pub(crate) fn of_scope(deadline: Stamp) -> Self {
        let mut scope = Self::new(Times::new(None, deadline), None);
        scope.phase = Phase::Scope;
        scope
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let mut phase = Phase::Scope;
        if self.is_attempt() {
            phase = Phase::Carried;
            // The copy shares it, so that the call has one idempotency key wherever the first use is.
            self.within_rest();
        }
        let mut inside = self.inside();
        if inside.again {
            inside.leeway = Leeway::Nothing;
        }
        Self {
            times: self.limits(),
            phase,
            inside,
            ..self.clone()
        }
    }

    /// What calls inside may do: in a hedge, they make one attempt.
    pub(crate) fn inside(&self) -> Allowed {
        let Allowed { leeway, again } = self.inside;
        Allowed {
            leeway: match self.which() {
                Which::First => leeway,
                Which::Hedge => Leeway::Nothing,
            },
            again: again || self.present() > 1,
        }
    }

    /// Which of two bodies is polled, or ended last.
    pub(crate) fn which(&self) -> Which {
        match self.bodies {
            Bodies::One => Which::First,
            Bodies::Both(which) | Bodies::Only(which) => which,
        }
    }

    /// Attempts begun, the current one and a hedge included.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// What the call does at present.
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// An attempt begins. It spends this permit.
    #[inline]
    pub(crate) fn begin_attempt(&mut self, permit: Option<Charge>) {
        self.count_attempt();
        self.phase = Phase::Attempt(permit);
    }

    /// Its `before_retry` begins, for which the permit stays.
    pub(crate) fn begin_preparation(&mut self) {
        self.phase = Phase::Preparation(self.phase.permit());
        self.renew_limits();
    }

    /// An attempt ended. Returns what the budget has charged for it.
    pub(crate) fn end_attempt(&mut self) -> Option<Charge> {
        match mem::replace(&mut self.phase, Phase::Between(None)) {
            Phase::Attempt(spent) => spent,
            _ => None,
        }
    }

    /// The call waits, with this permit for the next attempt. What the body left no longer counts.
    pub(crate) fn go_on(&mut self, permit: Charge) {
        self.phase = Phase::Between(Some(permit));
        self.forget_refusal();
    }

    /// The call ended with this outcome, or its report is given too.
    pub(crate) fn end(&mut self, outcome: Option<Outcome>) {
        self.phase = outcome.map_or(Phase::Closed, Phase::Ended);
    }

    /// Counts an attempt or a hedge that begins.
    pub(crate) fn count_attempt(&mut self) {
        self.number = self.number.saturating_add(1);
    }

    /// Allows so many attempts in a row.
    pub(crate) fn allow(&mut self, most: u32) {
        self.most = most;
    }

    /// The number of the attempt or the hedge that is polled, or that ended last.
    pub(crate) fn present(&self) -> u32 {
        match self.bodies {
            // Only the first attempt has a hedge.
            Bodies::Both(Which::First) | Bodies::Only(Which::First) => 1,
            _ => self.number(),
        }
    }

    /// Runs one poll of the code inside.
    #[inline]
    pub(crate) fn lend<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        FRAME.set(self, poll)
    }

    /// Whether the code inside runs in an attempt, maybe in another task.
    pub(crate) fn is_attempt(&self) -> bool {
        matches!(self.phase, Phase::Attempt(_) | Phase::Carried)
    }

    /// Whether the code inside runs for a call that makes attempts of its own.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.phase, Phase::Attempt(_) | Phase::Preparation(_))
    }

    /// What most calls never need, made when it is first needed.
    pub(crate) fn rest(&self) -> &Arc<Rest> {
        self.rest.get_or_init(Arc::default)
    }

    /// What is noted there, if it was needed.
    #[inline]
    pub(crate) fn noted(&self) -> Option<MutexGuard<'_, Noted>> {
        Some(self.rest.get()?.noted())
    }

    /// The same, which knows that of the outer attempt.
    pub(super) fn within_rest(&self) -> &Arc<Rest> {
        let rest = self.rest();
        if let Some(around) = self.node.get().and_then(|node| node.around()) {
            rest.begin_within(around);
        }
        rest
    }

    /// The call began in this outer attempt, where what may not happen twice is open too.
    pub(crate) fn begin_within(&self, outer: &Self) {
        let around = &(Arc::clone(outer.within_rest()), outer.which());
        // The node has room for it, unless several calls have that node.
        if !self
            .node
            .get()
            .is_some_and(|node| node.begin_within(around))
        {
            self.rest().begin_within(around);
        }
    }

    /// Adds what opens to the effects of the outer attempts. Returns what must end before.
    pub(super) fn open_outside(&self, effect: &Arc<OpenEffect>) -> Option<Arc<OpenEffect>> {
        let of_node = self.node.get().and_then(|node| node.around());
        let (rest, body) = of_node.or_else(|| self.rest.get()?.around())?;
        rest.open(effect, *body)
    }

    /// An attempt of this call, which must not run twice, begins. If it is never known to have had no effect, the outer attempts are not
    /// repeated.
    pub(crate) fn open_call(&self) {
        let open = Arc::new(OpenEffect::new(Effect::Call));
        self.open_outside(&open);
        self.rest().noted().begun = Some(open);
    }

    /// How many attempts the call made, without those that no longer count because a later one made progress.
    pub(crate) fn attempts_in_a_row(&self) -> u32 {
        self.number() - self.progressed().saturating_sub(1)
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        let most = Some(self.most).filter(|most| *most < u32::MAX)?;
        Some(most.saturating_add(self.progressed().saturating_sub(1)))
    }

    /// The number of the attempt that made progress last, or 0.
    pub(crate) fn progressed(&self) -> u32 {
        self.noted().map_or(0, |noted| noted.progressed)
    }

    /// What began in this attempt, may not happen twice, and may have taken effect. What lost its answer is named before what has one.
    #[inline]
    pub(crate) fn open_effect(&self) -> Option<Effect> {
        let noted = self.noted()?;
        let open = noted.open_effects().map(|(open, _)| open);
        Some(open.max_by_key(|open| open.answered.is_down())?.effect)
    }

    /// Whether the present one of two bodies has an open effect.
    pub(crate) fn has_open_effect_of_body(&self) -> bool {
        self.noted()
            .is_some_and(|noted| noted.open_effects().any(|(_, of)| *of == self.which()))
    }

    /// Whether a commit is among them.
    #[cfg(feature = "_transactions")]
    pub(crate) fn has_open_commit(&self) -> bool {
        self.noted().is_some_and(|noted| {
            noted
                .open_effects()
                .any(|(open, _)| open.effect == Effect::Commit)
        })
    }

    /// Lets the attempts before this one no longer count, nor the failed retries inside them, nor the requests that were answered. The
    /// timeout begins again.
    pub(crate) fn progress(&self) {
        let number = self.present();
        let renewed = self.has_timeout().then(|| (self.first(), Stamp::now()));
        let mut noted = self.rest().noted();
        noted.renewed = noted.renewed.max(renewed);
        // A task may still carry an earlier attempt.
        if number >= noted.progressed {
            noted.waits.last = None;
            noted.progressed = number;
            noted.effects.retain(|effect| effect.answered.is_down());
            if let Some(node) = self.node.get() {
                node.forget();
            }
        }
    }

    /// The number of the present attempt, which it shares with its hedge.
    fn first(&self) -> u32 {
        match self.bodies {
            Bodies::One => self.number(),
            Bodies::Both(_) | Bodies::Only(_) => 1,
        }
    }

    /// Whether progress in the present attempt begins a timeout again.
    fn has_timeout(&self) -> bool {
        self.timeout < u64::MAX && self.times.cut < Stamp::NEVER
    }
}

/// Shows the outer frame to `f`, if there is one.
#[inline]
pub(crate) fn outer<T>(f: impl FnOnce(&Frame) -> T) -> Option<T> {
    FRAME.is_set().then(|| FRAME.with(f))
}

#[cfg(test)]
mod tests;
