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

use std::cell::{Cell, OnceCell};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use scoped_tls_hkt::{ScopedKey, scoped_thread_local};

use super::nesting::Node;
use super::phase::{Allowed, Bodies, Count, Leeway, Phase, Times};
use super::rest::{Failure, Rest};
use crate::budget::Charge;
use crate::classify::AskedDelay;
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

scoped_thread_local! {
    /// The deadline of the scopes between the frame with this mark and the code inside it.
    static NARROWED: (usize, Stamp)
}

scoped_thread_local! {
    /// The frame beside whose body a hook or a rule runs.
    static BESIDE: Frame
}

/// What a call shares with the code inside its attempts.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) times: Times,
    phase: Phase,
    /// The bodies of the present attempt, or of the last one.
    pub(crate) bodies: Bodies,
    count: Count,
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
            count: Count { number: 0, most: 0 },
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
        self.count.number
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
        self.count.number = self.count.number.saturating_add(1);
    }

    /// Allows so many attempts in a row.
    pub(crate) fn allow(&mut self, most: u32) {
        self.count.most = most;
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

    /// Sets the failure of one of two bodies aside, with the refusal of a call inside it.
    pub(crate) fn set_aside(&mut self, how: PreviousFailure, hint: Option<AskedDelay>) {
        let refusal = self.refusal.take();
        self.previous = Some(how);
        self.rest().noted().aside = Some(Failure { how, hint, refusal });
    }

    /// Takes the failure that was set aside into that of the attempt: the more expensive one counts, and the larger hint, which is
    /// returned.
    pub(crate) fn join_aside(&mut self, hint: Option<AskedDelay>) -> Option<AskedDelay> {
        let rest = self.rest.get();
        let Some(aside) = rest.and_then(|rest| rest.noted().aside.take()) else {
            return hint;
        };
        let how = self.previous;
        let dearer = how.filter(|how| Charge::after(*how) >= Charge::after(aside.how));
        self.previous = dearer.or(Some(aside.how));
        self.refusal.set(self.refusal.get().or(aside.refusal));
        hint.max(aside.hint)
    }

    /// How many attempts the call made, without those that no longer count because a later one made progress.
    pub(crate) fn attempts_in_a_row(&self) -> u32 {
        self.number() - self.progressed().saturating_sub(1)
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        let most = Some(self.count.most).filter(|most| *most < u32::MAX)?;
        Some(most.saturating_add(self.progressed().saturating_sub(1)))
    }

    /// The number of the attempt that made progress last, or 0.
    pub(crate) fn progressed(&self) -> u32 {
        self.rest.get().map_or(0, |rest| rest.noted().progressed)
    }

    /// What began in this attempt, may not happen twice, and may have taken effect. What lost its answer is named before what has one.
    #[inline]
    pub(crate) fn open_effect(&self) -> Option<Effect> {
        let noted = self.rest.get()?.noted();
        let open = noted.open_effects().map(|(open, _)| open);
        Some(open.max_by_key(|open| open.answered.is_down())?.effect)
    }

    /// Whether the present one of two bodies has an open effect.
    pub(crate) fn has_open_effect_of_body(&self) -> bool {
        let rest = self.rest.get().map(|rest| rest.noted());
        rest.is_some_and(|noted| noted.open_effects().any(|(_, of)| *of == self.which()))
    }

    /// Whether a commit is among them.
    #[cfg(feature = "_transactions")]
    pub(crate) fn has_open_commit(&self) -> bool {
        let rest = self.rest.get().map(|rest| rest.noted());
        rest.is_some_and(|noted| {
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

/// The time of the call, and the limits that it takes over from outer frames.
impl Frame {
    /// Forgets the limits of the attempt before, and takes over those around.
    pub(crate) fn renew_limits(&mut self) {
        self.times = Times::new(self.times.started, self.times.deadline);
        outer(|outer| self.inherit(&outer.limits()));
    }

    /// Takes over these limits, if they are nearer.
    pub(crate) fn inherit(&mut self, around: &Times) {
        self.inherits |= around.deadline < self.times.deadline;
        self.times.inherit(around);
    }

    /// Whether the deadline of this call is also that of the outer call: its own, or one that it inherited.
    ///
    /// This call inherits the outer deadline, so its own is never the later one while there is time left.
    pub(crate) fn shares_deadline_of(&self, outer: &Self) -> bool {
        let own = self.times.deadline.plus(self.passed_over());
        let Times { deadline, .. } = outer.times;
        // A scope between them may have a nearer one.
        deadline == outer.limits().deadline && deadline != Stamp::NEVER && own >= deadline
    }

    /// The delays that count as time of the call, although it did not wait.
    pub(crate) fn passed_over(&self) -> Duration {
        (self.rest.get()).map_or(Duration::ZERO, |rest| rest.noted().waits.passed_over)
    }

    /// Counts a delay that is not waited for as time of the call.
    pub(crate) fn pass_over(&mut self, delay: Duration) {
        self.times.pass_over(delay);
        self.rest().noted().waits.pass_over(delay);
    }

    /// When the timeout cuts the present attempt.
    pub(crate) fn cut(&self) -> Stamp {
        let rest = self.rest.get().filter(|_| self.has_timeout());
        match rest.and_then(|rest| rest.noted().renewed) {
            Some((of, at)) if of == self.first() => at.plus(Duration::from_nanos(self.timeout)),
            _ => self.times.cut,
        }
    }

    /// The limits that the code inside has: those of the call, and of the scopes between them.
    pub(crate) fn limits(&self) -> Times {
        let mut times = self.times;
        times.cut = self.cut();
        if NARROWED.is_set() {
            let (of, deadline) = NARROWED.with(|narrowed| *narrowed);
            if of == self.mark() {
                times.deadline = times.deadline.min(deadline);
            }
        }
        times
    }

    /// An address to compare while the frame is lent.
    pub(crate) fn mark(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Runs one poll under the deadline of this frame, which stands for no call, and of the frame that polls it.
    pub(crate) fn narrow<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let own = self.times.deadline;
        match outer(|outer| (outer.mark(), outer.limits().deadline.min(own))) {
            Some(narrowed) => NARROWED.set(&narrowed, poll),
            None => self.lend(poll),
        }
    }
}

/// What the code inside leaves.
impl Frame {
    /// Where a call inside leaves that it was refused a retry, unless a hook or a rule makes it, which is no part of the body.
    fn note(&self) -> Option<&Cell<Option<Outcome>>> {
        let is_beside = BESIDE.is_set() && BESIDE.with(|frame| std::ptr::eq(frame, self));
        (!is_beside).then_some(&self.refusal)
    }

    /// A call inside begins. Returns whether it follows the refusal of another one, or begins beside it, as in `join!`. If the body
    /// was pending, it went on after that.
    pub(crate) fn follows_refusal(&self) -> bool {
        if self.was_pending {
            self.forget_refusal();
        }
        self.note().is_some_and(|note| note.get().is_some())
    }

    /// A call inside failed, which maybe was refused a retry. If it `follows` the refusal of another one, the body went on after that.
    pub(crate) fn refuse(&self, refusal: Option<Outcome>, follows: bool) {
        if let Some(note) = self.note() {
            note.set(refusal.or(note.get().filter(|_| !follows)));
        }
    }

    /// The body went on after the refusal, or the call after its body.
    pub(crate) fn forget_refusal(&self) {
        self.note().inspect(|note| note.set(None));
    }

    /// The refusal of a call inside, because of which the body failed.
    pub(crate) fn refusal(&self) -> Option<Outcome> {
        self.refusal.get()
    }

    /// The code inside is pending. A refusal only counts if the attempt fails in the same poll, or waits for a call that ran beside the
    /// refused one.
    #[inline]
    pub(crate) fn suspend(&mut self) {
        let node = self.refusal.get().and_then(|_| self.node.get());
        if node.is_none_or(|node| !node.has_unrefused(self.present())) {
            self.refusal.set(None);
        }
        self.was_pending = true;
    }
}

/// Runs a hook or a rule. It is no part of the body around, so a refusal of its calls is none of that.
pub(crate) fn beside_body<T>(run: impl FnOnce() -> T) -> T {
    if FRAME.is_set() {
        FRAME.with(|outer| BESIDE.set(outer, run))
    } else {
        run()
    }
}

/// Shows the outer frame to `f`, if there is one.
#[inline]
pub(crate) fn outer<T>(f: impl FnOnce(&Frame) -> T) -> Option<T> {
    FRAME.is_set().then(|| FRAME.with(f))
}

#[cfg(test)]
mod tests;
