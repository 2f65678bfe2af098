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
use std::sync::Arc;
use std::time::Duration;

use scoped_tls_hkt::ScopedKey;

use super::nesting::Node;
use super::phase::{Allowed, Bodies, Count, Leeway, Phase, Times};
use super::rest::{Failure, Rest};
use crate::budget::Charge;
use crate::classify::AskedDelay;
use crate::clock::Stamp;
use crate::report::{PreviousFailure, Which};
use crate::stopped::Outcome;

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
    pub(crate) times: Cell<Times>,
    /// During a poll: the deadline is that of a scope inside the attempt, so it is not the call's.
    narrowed: Cell<bool>,
    pub(crate) phase: Cell<Phase>,
    /// The bodies of the present attempt, or of the last one.
    pub(crate) bodies: Cell<Bodies>,
    count: Cell<Count>,
    /// What calls inside an attempt may do, unless it is a hedge.
    pub(crate) inside: Cell<Allowed>,
    /// How the last attempt failed.
    pub(crate) previous: Cell<Option<PreviousFailure>>,
    /// How many faults of its budget had begun when the call began.
    pub(crate) faults: Cell<u32>,
    /// The call was pending. Until then, calls that were made with it may not have begun.
    pub(crate) was_pending: Cell<bool>,
    /// A call inside was refused a retry, and ended with this outcome. Forgotten when the body goes on, or ends.
    pub(crate) refusal: Cell<Option<Outcome>>,
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
            times: Cell::new(times),
            narrowed: Cell::new(false),
            phase: Cell::new(Phase::New),
            bodies: Cell::new(Bodies::One),
            count: Cell::new(Count { number: 0, most: 0 }),
            inside: Cell::new(Allowed { leeway, again }),
            previous: Cell::new(None),
            faults: Cell::new(0),
            was_pending: Cell::new(false),
            refusal: Cell::new(None),
            node: OnceCell::new(),
            rest: rest.map_or_else(OnceCell::new, OnceCell::from),
        }
    }

    /// The frame of a scope with this deadline, for code without an outer call.
    pub(crate) fn of_scope(deadline: Stamp) -> Self {
        let scope = Self::new(Times::new(None, deadline), None);
        scope.phase.set(Phase::Scope);
        scope
    }

    /// Copies the frame for another task. Changes of the copy do not reach the original.
    pub(crate) fn carried(&self) -> Self {
        let mut phase = Phase::Scope;
        if self.is_attempt() {
            phase = Phase::Carried;
            // The copy shares it, so that the call has one idempotency key wherever the first use is.
            self.rest();
        }
        let mut inside = self.inside();
        if inside.again {
            inside.leeway = Leeway::Nothing;
        }
        Self {
            phase: Cell::new(phase),
            inside: Cell::new(inside),
            ..self.clone()
        }
    }

    /// What calls inside may do: in a hedge, they make one attempt.
    pub(crate) fn inside(&self) -> Allowed {
        let Allowed { leeway, again } = self.inside.get();
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
        match self.bodies.get() {
            Bodies::One => Which::First,
            Bodies::Both(which) | Bodies::Rest(which) => which,
        }
    }

    /// Attempts begun, the current one and a hedge included.
    pub(crate) fn number(&self) -> u32 {
        self.count.get().number
    }

    /// Counts an attempt or a hedge that begins.
    pub(crate) fn count_attempt(&self) {
        let Count { number, most } = self.count.get();
        let number = number.saturating_add(1);
        self.count.set(Count { number, most });
    }

    /// Allows so many attempts in a row.
    pub(crate) fn allow(&self, most: u32) {
        let number = self.number();
        self.count.set(Count { number, most });
    }

    /// The number of the attempt or the hedge that is polled, or that ended last.
    pub(crate) fn present(&self) -> u32 {
        match self.bodies.get() {
            // Only the first attempt has a hedge.
            Bodies::Both(Which::First) | Bodies::Rest(Which::First) => 1,
            _ => self.number(),
        }
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

    /// Sets the failure of one of two bodies aside, with the refusal of a call inside it.
    pub(crate) fn set_aside(&self, how: PreviousFailure, hint: Option<AskedDelay>) {
        let refusal = self.refusal.take();
        self.previous.set(Some(how));
        self.rest().noted().hedging.aside = Some(Failure { how, hint, refusal });
    }

    /// Takes the failure that was set aside into that of the attempt: the more expensive one counts, and the larger hint, which is
    /// returned.
    pub(crate) fn join_aside(&self, hint: Option<AskedDelay>) -> Option<AskedDelay> {
        let rest = self.rest.get();
        let Some(aside) = rest.and_then(|rest| rest.noted().hedging.aside.take()) else {
            return hint;
        };
        let how = self.previous.get();
        let dearer = how.filter(|how| Charge::after(*how) >= Charge::after(aside.how));
        self.previous.set(dearer.or(Some(aside.how)));
        self.refusal.set(self.refusal.get().or(aside.refusal));
        hint.max(aside.hint)
    }

    /// How many attempts the call made, without those that no longer count because a later one made progress.
    pub(crate) fn attempts_in_a_row(&self) -> u32 {
        self.number() - self.progressed().saturating_sub(1)
    }

    /// How many attempts the call may make here, or `None` for no limit.
    pub(crate) fn attempts_allowed(&self) -> Option<u32> {
        let most = Some(self.count.get().most).filter(|most| *most < u32::MAX)?;
        Some(most.saturating_add(self.progressed().saturating_sub(1)))
    }

    /// The number of the attempt that made progress last, or 0.
    pub(crate) fn progressed(&self) -> u32 {
        self.rest.get().map_or(0, |rest| rest.noted().progressed)
    }

    /// Whether a commit that began in this attempt is pending, was dropped, or lost its answer.
    #[inline]
    pub(crate) fn has_open_commit(&self) -> bool {
        let rest = self.rest.get();
        rest.is_some_and(|rest| rest.noted().commits.iter().any(|commit| commit.is_down()))
    }

    /// Lets the attempts before this one no longer count, nor the failed retries inside them.
    pub(crate) fn progress(&self) {
        let number = self.present();
        let mut noted = self.rest().noted();
        // A task may still carry an earlier attempt.
        if number >= noted.progressed {
            noted.waits.last = None;
            noted.progressed = number;
            if let Some(node) = self.node.get() {
                node.forget();
            }
        }
    }
}

/// The time of the call, and the limits that it takes over from outer frames.
impl Frame {
    /// The time of the call starts now, if it has not started.
    pub(crate) fn start(&self, now: impl FnOnce() -> Stamp) {
        let times = self.times.get();
        if times.started.is_none() {
            let started = Some(now());
            self.times.set(Times { started, ..times });
        }
    }

    /// Takes over the limits of the outer frame, if they are nearer. The length of an inherited deadline counts from now, also if
    /// no one asks how long the call takes.
    pub(crate) fn inherit(&self, outer: &Self) {
        let (own, around) = (self.times.get(), outer.times.get());
        if around.deadline < own.deadline {
            self.start(Stamp::now);
        }
        self.times.set(Times {
            deadline: own.deadline.min(around.deadline),
            outer: own.outer.min(around.nearest()),
            ..self.times.get()
        });
    }

    /// Forgets the limits of the attempt before, and takes over those around.
    pub(crate) fn renew_limits(&self) {
        let times = self.times.get();
        self.times.set(Times::new(times.started, times.deadline));
        outer(|outer| self.inherit(outer));
    }

    /// Whether the deadline of this call is also that of the outer call: its own, or one that it inherited.
    ///
    /// This call inherits the outer deadline, so its own is never the later one while there is time left.
    pub(crate) fn shares_deadline_of(&self, outer: &Self) -> bool {
        let own = self.times.get().deadline.plus(self.passed_over());
        let Times { deadline, .. } = outer.times.get();
        !outer.narrowed.get() && deadline != Stamp::NEVER && own >= deadline
    }

    /// The delays that count as time of the call, although it did not wait.
    pub(crate) fn passed_over(&self) -> Duration {
        (self.rest.get()).map_or(Duration::ZERO, |rest| rest.noted().waits.passed_over)
    }

    /// Counts a delay that is not waited for as time of the call.
    pub(crate) fn pass_over(&self, delay: Duration) {
        self.start(Stamp::now);
        let times = self.times.get();
        self.times.set(Times {
            started: times.started.map(|started| started.minus(delay)),
            deadline: times.deadline.minus(delay),
            ..times
        });
        self.rest().noted().waits.pass_over(delay);
    }

    /// Runs one poll under the deadline of this frame, which stands for no call, and of the frame that polls it.
    pub(crate) fn narrow<T>(&self, poll: impl FnOnce() -> T) -> T {
        if !FRAME.is_set() {
            return self.lend(poll);
        }
        FRAME.with(|outer| {
            let _restored = outer.limits_restored_after();
            let (times, Times { deadline, .. }) = (outer.times.get(), self.times.get());
            if deadline < times.deadline {
                outer.times.set(Times { deadline, ..times });
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
        let (times, narrowed) = (self.times.get(), self.narrowed.get());
        Finally(move || {
            self.times.set(times);
            self.narrowed.set(narrowed);
        })
    }
}

/// Runs a hook or a rule. It is no part of the body around, so a refusal of its calls is none of that. Restored also if a panic unwinds.
pub(crate) fn beside_body<T>(run: impl FnOnce() -> T) -> T {
    let refusal = outer(|outer| outer.refusal.get()).flatten();
    let _restored = Finally(move || {
        outer(|outer| outer.refusal.set(refusal));
    });
    run()
}

/// Calls a function when it is dropped.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Shows the outer frame to `f`, if there is one.
#[inline]
pub(crate) fn outer<T>(f: impl FnOnce(&Frame) -> T) -> Option<T> {
    FRAME.is_set().then(|| FRAME.with(f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Verdict;

    fn frame(number: u32, most: u32) -> Frame {
        let frame = frame_with(until(u64::MAX));
        frame.allow(most);
        (0..number).for_each(|_| frame.count_attempt());
        frame
    }

    #[test]
    fn of_two_bodies_one_is_present() {
        use Which::{First, Hedge};
        for (bodies, which, number) in [
            (Bodies::One, First, 2),
            (Bodies::Both(First), First, 1),
            (Bodies::Both(Hedge), Hedge, 2),
            (Bodies::Rest(First), First, 1),
            (Bodies::Rest(Hedge), Hedge, 2),
        ] {
            let frame = frame(2, 3);
            frame.bodies.set(bodies);
            assert_eq!(frame.which(), which, "{bodies:?}");
            assert_eq!(frame.present(), number, "{bodies:?}");
        }
    }

    #[test]
    fn attempts_before_the_last_progress_no_longer_count() {
        for (progressed, in_a_row, allowed) in [(0, 5, 3), (1, 5, 3), (2, 4, 4), (5, 1, 7)] {
            let frame = frame(5, 3);
            frame.rest().noted().progressed = progressed;
            assert_eq!(frame.attempts_in_a_row(), in_a_row);
            assert_eq!(frame.attempts_allowed(), Some(allowed));
        }
        let unlimited = frame(5, u32::MAX);
        unlimited.rest().noted().progressed = 9;
        assert_eq!(unlimited.attempts_allowed(), None);
    }

    #[test]
    fn of_two_failures_the_dearer_one_counts_and_the_larger_hint() {
        type Failed = (Verdict, Option<AskedDelay>, Option<Outcome>);
        let joined = |(verdict, hint, refusal): Failed, aside: Failed| {
            let frame = frame(2, 3);
            frame.refusal.set(aside.2);
            frame.set_aside(PreviousFailure::Failed(aside.0), aside.1);
            frame.previous.set(Some(PreviousFailure::Failed(verdict)));
            frame.refusal.set(refusal);
            let hint = frame.join_aside(hint);
            let verdict = frame.previous.get().map(PreviousFailure::verdict);
            (verdict.unwrap(), hint, frame.refusal.get())
        };
        let hint = Some((HOUR, true));
        let cheap = (Verdict::Conflict, hint, Some(Outcome::Budget));
        let dear = (Verdict::Throttled, None, Some(Outcome::Deadline));
        let of_both = |refusal| (Verdict::Throttled, hint, Some(refusal));
        assert_eq!(joined(cheap, dear), of_both(Outcome::Budget));
        assert_eq!(joined(dear, cheap), of_both(Outcome::Deadline));
        let alike = (Verdict::Transient, None, None);
        let unknown = (Verdict::Unknown, None, None);
        assert_eq!(joined(alike, unknown), alike);
    }

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    fn until(deadline: u64) -> Times {
        Times::new(None, at(deadline))
    }

    fn frame_with(times: Times) -> Frame {
        Frame::new(times, None)
    }

    #[test]
    fn the_nearest_limit_counts_and_a_new_attempt_forgets_that_of_the_last_one() {
        let [outer, own] = [(5, 9), (7, 8)].map(|(cut, deadline)| Times {
            cut: at(cut),
            ..until(deadline)
        });
        assert_eq!(own.nearest(), at(7));
        let inner = frame_with(own);
        inner.inherit(&frame_with(outer));
        let times = inner.times.get();
        assert_eq!((times.deadline, times.nearest()), (at(8), at(5)));
        assert_eq!(times.started, None, "it has the nearer deadline");
        inner.renew_limits();
        assert_eq!(inner.times.get(), until(8));
        let inherits = frame_with(until(u64::MAX));
        inherits.inherit(&frame_with(outer));
        assert_eq!(inherits.times.get().deadline, at(9));
        assert!(inherits.times.get().started.is_some());
    }

    #[test]
    fn a_call_that_passes_over_a_delay_is_older_but_no_deadline_comes_of_it() {
        let older = |times: Times| {
            let frame = frame_with(times);
            frame.start(|| at(4));
            frame.pass_over(Duration::from_nanos(2));
            frame.times.get()
        };
        let started = Some(at(2));
        assert_eq!(older(until(9)), Times::new(started, at(7)));
        assert_eq!(older(until(u64::MAX)), Times::new(started, Stamp::NEVER));
    }

    /// Also of a call without limits that no one observes. It looks at the clock for nothing else before its first failure.
    #[test]
    fn the_length_of_an_inherited_deadline_is_what_was_left_when_the_call_began() {
        let [outer, call] = [Frame::of_scope(Stamp::NEVER), frame_with(until(u64::MAX))];
        call.inherit(&outer);
        assert_eq!(call.times.get().started, None, "there is no deadline");
        let before = Stamp::now();
        let limited = Times::new(None, before.after(Some(HOUR)));
        outer.times.set(limited);
        call.inherit(&outer);
        let began = call.times.get().started.unwrap();
        assert!(before <= began && began <= Stamp::now());
        let failed = began.after(Some(HOUR / 2));
        let length = HOUR.saturating_sub(began.since(before));
        let left = length.saturating_sub(HOUR / 2);
        assert_eq!(call.times.get().to_deadline(failed), Some((length, left)));
    }
}
