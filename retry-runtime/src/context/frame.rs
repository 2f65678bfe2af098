//! What a call shares with the code inside its attempts, and the pointer by which that code finds it.
//!
//! The future of a call holds one [`Frame`]. While an attempt is polled, a scoped thread-local points at it:
//!
//! ```text
//! poll of the outer call        the pointer: unset, or at what lies around
//!   lend ─ poll of its body     the pointer: at the outer call's frame
//!     poll of an inner call
//!       lend ─ poll of body     the pointer: at the inner call's frame
//!     the inner call decides    the pointer: at the outer call's frame, which it reads and writes
//! ```

use std::cell::{Cell, OnceCell};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use scoped_tls_hkt::ScopedKey;
use uuid::Uuid;

use super::nesting::Node;
use super::phase::{Bodies, Phase, TimeLimits};
use crate::atomics::Flag;
use crate::clock::Stamp;
use crate::report::{Hedge, Previous, Which};
use crate::rng;
use crate::stopped::Outcome;
use crate::trace::{Entered, Spans};

/// What `scoped_thread_local!` makes, but as a `const`, which other crates can see into: each poll of an attempt sets it.
const FRAME: ScopedKey<Frame> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Frame>> = const { Cell::new(None) });
        &POINTER
    },
};

/// What a call shares with the code inside its attempts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Frame {
    /// When the call began. A call that has and inherits no limits and is not observed has it from its first failure on.
    pub(crate) started: Cell<Option<Stamp>>,
    pub(crate) limits: Cell<TimeLimits>,
    /// During a poll: the deadline is that of a scope inside the attempt, so it is not the call's.
    narrowed: Cell<bool>,
    pub(crate) phase: Cell<Phase>,
    /// The bodies of the present attempt, or of the last one.
    pub(crate) bodies: Cell<Bodies>,
    /// Attempts begun, the current one and a hedge included.
    pub(crate) number: Cell<u32>,
    /// How many attempts the call may make here in a row without progress, or `u32::MAX` for no limit.
    pub(crate) attempts: Cell<u32>,
    /// What calls inside an attempt may do.
    pub(crate) inside: Cell<Leeway>,
    /// The present attempt, or an outer attempt, is not the first of its call.
    pub(crate) again: Cell<bool>,
    /// How the last attempt failed.
    pub(crate) previous: Cell<Option<Previous>>,
    /// How many faults of its budget had begun when the call began.
    pub(crate) faults: Cell<u32>,
    /// The call was pending. Until then, calls that were made with it may not have begun.
    pub(crate) was_pending: Cell<bool>,
    /// A call inside was refused a retry in the current poll, and ended with this outcome.
    pub(crate) refusal: Cell<Option<Outcome>>,
    /// What is known of retries here, if the call is within another one or has calls inside.
    node: OnceCell<Arc<Node>>,
    /// What most calls never need.
    rest: OnceCell<Arc<Rest>>,
}

impl Frame {
    /// The frame of a call.
    #[inline]
    pub(crate) fn new(started: Option<Stamp>, deadline: Stamp) -> Self {
        Self {
            started: Cell::new(started),
            limits: Cell::new(TimeLimits::of(deadline)),
            ..Self::default()
        }
    }

    /// The frame of a scope with this deadline, for code without an outer call.
    pub(crate) fn of_scope(deadline: Stamp) -> Self {
        Self {
            phase: Cell::new(Phase::Scope),
            ..Self::new(None, deadline)
        }
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let (again, inside) = (self.is_again(), self.leeway());
        let mut phase = Phase::Scope;
        if self.is_attempt() {
            phase = Phase::Carried;
            // The copy shares it, so that the call has one idempotency key wherever the first use is.
            self.rest();
        }
        Self {
            phase: Cell::new(phase),
            inside: Cell::new(if again { Leeway::Nothing } else { inside }),
            again: Cell::new(again),
            ..self.clone()
        }
    }

    /// What calls inside may do: in a hedge, they make one attempt.
    pub(crate) fn leeway(&self) -> Leeway {
        match self.which() {
            Which::First => self.inside.get(),
            Which::Hedge => Leeway::Nothing,
        }
    }

    /// Whether the code inside runs again.
    pub(crate) fn is_again(&self) -> bool {
        self.again.get() || self.which() == Which::Hedge
    }

    /// Which of two bodies is polled, or ended last.
    pub(crate) fn which(&self) -> Which {
        self.bodies.get().which()
    }

    /// Of two bodies that run, makes this one the present one.
    pub(crate) fn turn_to(&self, which: Which) {
        self.bodies.set(self.bodies.get().turn_to(which));
    }

    /// The number of the attempt or the hedge that is polled, or that ended last.
    pub(crate) fn present(&self) -> u32 {
        self.bodies.get().number(self.number.get())
    }

    /// Runs one poll of the code inside.
    #[inline]
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        FRAME.set(self, poll)
    }

    /// Whether the code inside runs in an attempt, maybe in another task.
    pub(crate) fn is_attempt(&self) -> bool {
        matches!(self.phase.get(), Phase::Attempt(_) | Phase::Carried)
    }

    /// Whether the code inside runs for a call that makes attempts of its own.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.phase.get(), Phase::Attempt(_) | Phase::Preparation(_))
    }

    /// What most calls never need, made when it is first needed.
    pub(crate) fn rest(&self) -> &Arc<Rest> {
        self.rest.get_or_init(Arc::default)
    }

    /// The same, if it exists.
    #[inline]
    pub(crate) fn if_rest(&self) -> Option<&Arc<Rest>> {
        self.rest.get()
    }

    /// What is known of the retries of the calls inside.
    pub(crate) fn node(&self) -> &Arc<Node> {
        self.node.get_or_init(Arc::default)
    }

    /// The same, if it exists.
    pub(crate) fn if_node(&self) -> Option<&Arc<Node>> {
        self.node.get()
    }

    /// Takes its place within the outer call.
    pub(crate) fn join(&self, node: Arc<Node>) {
        let _ = self.node.set(node);
    }

    /// Returns the number of the attempt since the last one that made progress, which is the first.
    pub(crate) fn attempts_in_a_row(&self) -> u32 {
        self.number.get() - self.before_progress()
    }

    /// Returns how many retries the call made since then.
    pub(crate) fn retries_in_a_row(&self) -> u32 {
        self.attempts_in_a_row().saturating_sub(1)
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        match self.attempts.get() {
            u32::MAX => None,
            attempts => Some(attempts.saturating_add(self.before_progress())),
        }
    }

    /// Returns how many attempts no longer count, because a later one made progress.
    fn before_progress(&self) -> u32 {
        self.progressed().saturating_sub(1)
    }

    /// The number of the attempt that made progress last, or 0.
    pub(crate) fn progressed(&self) -> u32 {
        self.if_rest().map_or(0, |rest| rest.noted().progressed)
    }

    /// Lets the attempts before this one no longer count, nor the failed retries inside them.
    pub(crate) fn progress(&self) {
        let number = self.present();
        let mut noted = self.rest().noted();
        // A task may still carry an earlier attempt.
        if number >= noted.progressed {
            noted.delay = None;
            noted.progressed = number;
            if let Some(node) = self.if_node() {
                node.forget();
            }
        }
    }
}

/// Time.
impl Frame {
    /// When the call began, which is now if its time has not started.
    pub(crate) fn start(&self, now: impl FnOnce() -> Stamp) -> Stamp {
        let started = self.started.get().unwrap_or_else(now);
        self.started.set(Some(started));
        started
    }

    /// Takes over the limits of the outer frame, if they are nearer.
    pub(crate) fn inherit(&self, outer: &Self) {
        let limits = self.limits.get();
        let inherited = limits.inherit(outer.limits.get());
        if inherited.deadline != limits.deadline {
            // The length of the deadline counts from now, also if no one asks how long the call takes.
            self.start(Stamp::now);
        }
        self.limits.set(inherited);
    }

    /// Forgets the limits of the attempt before, and takes over those around.
    pub(crate) fn renew_limits(&self) {
        self.limits.set(self.limits.get().renew());
        outer(|outer| self.inherit(outer));
    }

    /// The length of the deadline, and what is left of it, or `None` without a deadline. For an inherited
    /// deadline, the length is the time that was left when this call began.
    pub(crate) fn time_to_deadline(&self, now: Stamp) -> Option<(Duration, Duration)> {
        let TimeLimits { deadline, .. } = self.limits.get();
        let began = self.started.get().unwrap_or(now);
        (deadline != Stamp::NEVER).then(|| (deadline.since(began), deadline.since(now)))
    }

    /// Whether the deadline of this call is also that of the outer call: its own, or one that it inherited.
    ///
    /// This call inherits the outer deadline, so its own is never the later one while there is time left.
    pub(crate) fn shares_deadline_of(&self, outer: &Self) -> bool {
        let own = self.limits.get().deadline.plus(self.passed_over());
        let TimeLimits { deadline, .. } = outer.limits.get();
        !outer.narrowed.get() && deadline != Stamp::NEVER && own >= deadline
    }

    /// The delays that count as time of the call, although it did not wait.
    pub(crate) fn passed_over(&self) -> Duration {
        let passed_over = self.if_rest().map(|rest| rest.noted().passed_over);
        passed_over.unwrap_or_default()
    }

    /// Counts a delay that is not waited for as time of the call.
    pub(crate) fn pass_over(&self, delay: Duration) {
        let started = self.start(Stamp::now);
        self.started.set(Some(started.minus(delay)));
        self.limits.set(self.limits.get().pass_over(delay));
        let mut noted = self.rest().noted();
        noted.waited = noted.waited.saturating_add(delay);
        noted.passed_over = noted.passed_over.saturating_add(delay);
    }

    /// Runs one poll under the deadline of this frame, which stands for no call, and of the frame that polls it.
    pub(crate) fn narrow<T>(&self, poll: impl FnOnce() -> T) -> T {
        if !is_within() {
            return self.lend(poll);
        }
        FRAME.with(|outer| {
            let _restored = outer.limits_restored_after();
            let (around, TimeLimits { deadline, .. }) = (outer.limits.get(), self.limits.get());
            if deadline < around.deadline {
                outer.limits.set(around.narrow(deadline));
                outer.narrowed.set(true);
            }
            poll()
        })
    }

    /// Runs one poll under the limits of this frame and of the frame that polls it.
    pub(crate) fn within_limits_around<T>(&self, poll: impl FnOnce() -> T) -> T {
        let _restored = self.limits_restored_after();
        outer(|outer| self.inherit(outer));
        poll()
    }

    /// Restores the present limits after a poll, also if a panic unwinds.
    fn limits_restored_after(&self) -> impl Drop {
        let (limits, narrowed) = (self.limits.get(), self.narrowed.get());
        Finally(move || {
            self.limits.set(limits);
            self.narrowed.set(narrowed);
        })
    }
}

/// Restores what the outer call knows of a refusal after code that is no part of its body, also if a panic unwinds.
pub(crate) fn refusal_restored_after() -> impl Drop {
    let refusal = outer(|outer| outer.refusal.get()).flatten();
    Finally(move || {
        outer(|outer| outer.refusal.set(refusal));
    })
}

/// Calls a function when it is dropped.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Whether there is an outer frame.
#[inline]
pub(crate) fn is_within() -> bool {
    FRAME.is_set()
}

/// Shows the outer frame to `f`, if there is one.
#[inline]
pub(crate) fn outer<T>(f: impl FnOnce(&Frame) -> T) -> Option<T> {
    FRAME.is_set().then(|| FRAME.with(f))
}

/// What most calls never need, and what tasks share that carry an attempt.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    key: OnceLock<Uuid>,
    // Rarely contended: only the task of the call and tasks that carry its attempt lock it.
    notes: Mutex<Noted>,
}

#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The number of the attempt that made progress last, or 0. Those before it no longer count.
    pub(crate) progressed: u32,
    /// An attempt sent an idempotency key, or asked for that of the call.
    pub(crate) keyed: bool,
    /// The request of another attempt may still run: of one that ended after that, or of the other of two.
    pub(crate) in_doubt: bool,
    /// The delay that `retry_after` says about the last attempt.
    pub(crate) after: Option<Duration>,
    /// The last delay.
    pub(crate) delay: Option<Duration>,
    /// How long the call waited between attempts.
    pub(crate) waited: Duration,
    /// When the present wait began.
    pub(crate) waits_since: Option<Stamp>,
    /// The delays that count as time of the call, although it did not wait. Outer calls do not count them.
    pub(crate) passed_over: Duration,
    /// Until when the call waits at most for the pause of its budget, if it met one before the next attempt.
    pub(crate) paused_until: Option<Stamp>,
    /// The commits that began in the present attempt, each with a flag that is raised when it has ended.
    pub(super) commits: Vec<Arc<Flag>>,
    /// What became of the hedge, once it was wanted.
    pub(crate) hedge: Option<Hedge>,
    /// The failure that was set aside, the delay that its server asked for, and the refusal inside it.
    pub(crate) aside: Option<(Previous, Option<Duration>, Option<Outcome>)>,
    /// The future of `cancel_waits` completed while two attempts could run.
    pub(crate) signalled: bool,
    /// The spans of the call, if a subscriber wants them.
    pub(crate) spans: Spans,
    /// The span of the attempt, while it is polled.
    pub(crate) entered: Option<Entered>,
}

impl Noted {
    /// Forgets what the attempt that ended leaves: the next one has no open commit, and may wait for a pause again.
    pub(crate) fn go_on(&mut self) {
        (self.commits, self.paused_until) = (Vec::new(), None);
    }
}

impl Rest {
    /// The idempotency key, made when it is first asked for.
    pub(crate) fn key(&self) -> Uuid {
        self.noted().keyed = true;
        *self.key.get_or_init(rng::uuid)
    }

    pub(crate) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What calls inside an attempt may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Leeway {
    /// Retry, and hedge.
    #[default]
    Anything,
    /// Retry. An outer call may hedge, and hedges within hedges would multiply.
    Retry,
    /// Make one attempt, because their retries could not be counted.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also of a call without limits that no one observes. It looks at the clock for nothing else before its first failure.
    #[test]
    fn the_length_of_an_inherited_deadline_is_what_was_left_when_the_call_began() {
        let [outer, call] = [
            Frame::of_scope(Stamp::NEVER),
            Frame::new(None, Stamp::NEVER),
        ];
        call.inherit(&outer);
        assert_eq!(call.started.get(), None, "there is no deadline");
        let before = Stamp::now();
        outer.limits.set(TimeLimits::of(before.after(Some(HOUR))));
        call.inherit(&outer);
        let began = call.started.get().unwrap();
        assert!(before <= began && began <= Stamp::now());
        let failed = began.after(Some(HOUR / 2));
        let length = HOUR.saturating_sub(began.since(before));
        let left = length.saturating_sub(HOUR / 2);
        assert_eq!(call.time_to_deadline(failed), Some((length, left)));
    }

    const HOUR: Duration = Duration::from_secs(3600);
}
