//! What most calls never need, so that it is made when it is first needed. Tasks that carry an attempt share it.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crate::atomics::Flag;
use crate::classify::AskedDelay;
use crate::clock::Stamp;
use crate::report::{PreviousFailure, Which};
use crate::stopped::{Effect, Outcome};
use crate::test_scope::CallInScope;
use crate::trace::Spans;

#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// What its test scope gives to the call, if it began in one.
    pub(crate) scope: Option<CallInScope>,
    /// The idempotency key, made when it is first asked for.
    pub(super) key: OnceLock<u128>,
    /// Where the call began. What opens in the call is open there too.
    around: OnceLock<OuterBody>,
    // Rarely contended: only the task of the call and tasks that carry its attempt lock it.
    notes: Mutex<Noted>,
}

/// Where a call began: what the outer attempt shares with it, and in which body of that.
pub(super) type OuterBody = (Arc<Rest>, Which);

/// What an attempt began that may not happen twice. Outer attempts share it.
#[derive(Debug)]
pub(crate) struct OpenEffect {
    pub(super) effect: Effect,
    /// It was answered. What comes after that is a part of it until the attempt records progress.
    pub(super) answered: Flag,
    /// It is known how it ended, or that it had no effect.
    pub(super) ended: Flag,
    /// What waits for that, in the other body of the attempt.
    pub(super) waiting: Mutex<Vec<Waker>>,
}

impl OpenEffect {
    pub(super) const fn new(effect: Effect) -> Self {
        Self {
            effect,
            answered: Flag::new(),
            ended: Flag::new(),
            waiting: Mutex::new(Vec::new()),
        }
    }

    /// It is known how it ended.
    pub(super) fn end_known(&self) {
        self.ended.raise();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        mem::take(&mut *waiting).into_iter().for_each(Waker::wake);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// The number of the attempt that made progress last, or 0. Those before it no longer count.
    pub(crate) progressed: u32,
    /// When an attempt with a timeout made progress last, and the number of that attempt.
    pub(crate) renewed: Option<(u32, Stamp)>,
    /// An attempt sent an idempotency key, or asked for that of the call.
    pub(crate) keyed: bool,
    /// The request of another attempt may still run: of one that ended after that, or of the other of two.
    pub(crate) in_doubt: bool,
    pub(crate) waits: Waits,
    /// What began in the present attempt, and may not happen twice.
    pub(crate) effects: Effects,
    /// The present attempt itself, as outer ones know it, if the call must not run twice.
    pub(crate) begun: Option<Arc<OpenEffect>>,
    /// The failure of one of two bodies, while the other may succeed.
    pub(crate) aside: Option<Failure>,
    /// The future of `cancel_waits` completed: no hedge begins, and no failure is set aside.
    pub(crate) signalled: bool,
    /// The spans of the call, if a subscriber wants them.
    pub(crate) spans: Spans,
}

/// What began in an attempt. Most have one at most, for which nothing is allocated.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Of two bodies that run, one at a time may begin one.
    pub(crate) one_at_a_time: bool,
    first: Option<OpenedIn>,
    more: Vec<OpenedIn>,
}

/// The effect, and in which body it began.
type OpenedIn = (Arc<OpenEffect>, Which);

impl Effects {
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&OpenEffect) -> bool) {
        self.first = self.first.take().filter(|(effect, _)| keeps(effect));
        self.more.retain(|(effect, _)| keeps(effect));
    }
}

impl Noted {
    /// What is pending, was dropped, lost its answer, or was answered and is not left behind.
    pub(super) fn open_effects(&self) -> impl Iterator<Item = &OpenedIn> {
        let effects = self.effects.first.iter().chain(&self.effects.more);
        effects.filter(|(effect, _)| effect.ended.is_down())
    }

    /// Adds what opens in this body, and leaves out what has ended. Of what was answered, one stands for all. Returns what is open in
    /// the other body, if only one at a time may begin: then it adds nothing. No call waits, nor does anything wait for one: of two that
    /// wait for what is open inside them, each would wait for the other.
    fn open(&mut self, effect: &Arc<OpenEffect>, body: Which) -> Option<Arc<OpenEffect>> {
        let waits = |effect: &OpenEffect| effect.effect != Effect::Call;
        let one_at_a_time = self.effects.one_at_a_time && waits(effect);
        let is_other = |(open, of): &&OpenedIn| one_at_a_time && *of != body && waits(open);
        let other = self.open_effects().find(is_other);
        if let Some((other, _)) = other {
            return Some(Arc::clone(other));
        }
        let mut answered = false;
        self.effects.retain(|known| {
            let counts = known.answered.is_down() || !mem::replace(&mut answered, true);
            known.ended.is_down() && counts
        });
        let begun = (Arc::clone(effect), body);
        match &mut self.effects {
            Effects { first, .. } if first.is_none() => *first = Some(begun),
            Effects { more, .. } => more.push(begun),
        }
        None
    }

    /// Forgets what the attempt that ended leaves: the next one has no open effect, and may wait for a pause again. After the
    /// signal no attempt follows, and what was cut may have taken effect.
    pub(crate) fn go_on(&mut self) {
        self.end_begun();
        if !self.signalled {
            self.effects = Effects::default();
            self.waits.longest_pause = None;
        }
    }

    /// Outer attempts may be repeated: the attempt that must not run twice had no effect, or it is known.
    pub(crate) fn end_begun(&mut self) {
        self.begun.take().inspect(|begun| begun.end_known());
    }
}

impl Rest {
    /// That of a call in a test scope.
    pub(crate) fn of(scope: CallInScope) -> Arc<Self> {
        Arc::new(Self {
            scope: Some(scope),
            ..Self::default()
        })
    }

    /// The call began there.
    pub(super) fn begin_within(&self, around: &OuterBody) {
        let _ = self.around.set(around.clone());
    }

    /// Adds what opens in this body to the effects of the attempt, and to those of each outer one. Returns what is open in the other
    /// body of one of them, and must end before.
    pub(super) fn open(&self, effect: &Arc<OpenEffect>, body: Which) -> Option<Arc<OpenEffect>> {
        let other = self.noted().open(effect, body);
        other.or_else(|| {
            let (rest, body) = self.around()?;
            rest.open(effect, *body)
        })
    }

    /// Where the call began.
    pub(super) fn around(&self) -> Option<&OuterBody> {
        self.around.get()
    }

    pub(crate) fn noted(&self) -> MutexGuard<'_, Noted> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waits of a call.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// The delay that `retry_after` or an `Ok` asks for, before the next attempt.
    pub(crate) asked: Option<Duration>,
    /// The delay that the caller gives before the next attempt, or `None` at the end of its delays.
    #[allow(clippy::option_option, reason = "the inner `None` is the end")]
    pub(crate) given: Option<Option<Duration>>,
    /// The last delay.
    pub(crate) last: Option<Duration>,
    /// How long the call waited between attempts.
    pub(crate) waited: Duration,
    /// The delays that count as time of the call, although it did not wait. Outer calls do not count them.
    pub(crate) passed_over: Duration,
    /// When an attempt gave an `Ok` last that was not ready, if an observer wants to know how long the call fails.
    pub(crate) answered: Option<Stamp>,
    /// When the present wait began.
    since: Option<Stamp>,
    /// Until when the call waits at most for the pause of its budget, if it met one before the next attempt.
    pub(crate) longest_pause: Option<Stamp>,
}

impl Waits {
    /// A wait begins: with this `delay` after a failure, or in a pause. It takes time from `since` on, or none.
    pub(crate) fn begin(&mut self, delay: Option<Duration>, since: Option<Stamp>) {
        self.last = delay.or(self.last);
        self.since = since;
    }

    /// The wait is over, if there was one.
    pub(crate) fn end(&mut self, now: impl FnOnce() -> Stamp) {
        if let Some(since) = self.since.take() {
            self.waited = self.waited.saturating_add(now().since(since));
        }
    }

    /// The call does not wait for this delay, but counts it.
    pub(crate) fn pass_over(&mut self, delay: Duration) {
        self.waited = self.waited.saturating_add(delay);
        self.passed_over = self.passed_over.saturating_add(delay);
    }

    /// The call meets a pause, for which it waits until `longest`, or as long as for the pause that it met before.
    pub(crate) fn pause(&mut self, longest: Stamp) -> Stamp {
        *self.longest_pause.get_or_insert(longest)
    }
}

/// The failure of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    pub(crate) how: PreviousFailure,
    pub(crate) hint: Option<AskedDelay>,
    /// The refusal of a call inside.
    pub(crate) refusal: Option<Outcome>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(seconds: u32) -> Stamp {
        Stamp::FIRST.plus(SECOND * seconds)
    }

    #[test]
    fn a_wait_counts_once_with_what_is_passed_over_of_it() {
        let mut waits = Waits::default();
        waits.end(|| at(9));
        assert_eq!(waits.waited, Duration::ZERO, "there was none");
        waits.begin(Some(SECOND), Some(at(1)));
        waits.end(|| at(3));
        waits.end(|| at(9));
        waits.begin(None, Some(at(10)));
        assert_eq!((waits.waited, waits.last), (SECOND * 2, Some(SECOND)));
        waits.pass_over(SECOND * 5);
        waits.end(|| at(11));
        assert_eq!(waits.waited, SECOND * 8);
        assert_eq!(waits.passed_over, SECOND * 5);
    }

    #[test]
    fn the_first_pause_before_an_attempt_limits_all_of_them() {
        let mut noted = Noted::default();
        assert_eq!(noted.waits.pause(at(2)), at(2));
        assert_eq!(noted.waits.pause(at(5)), at(2));
        noted.go_on();
        assert_eq!(noted.waits.pause(at(5)), at(5));
    }
}
