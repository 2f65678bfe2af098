//! The time of a call, and the limits that it takes over from outer frames.

use std::time::Duration;

use super::frame::{FRAME, Finally, Frame, is_within, outer};
use super::phase::Times;
use crate::clock::Stamp;

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
        let Times {
            started, deadline, ..
        } = self.times.get();
        self.times.set(Times::new(started, deadline));
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
        let passed_over = self.if_rest().map(|rest| rest.noted().waits.passed_over);
        passed_over.unwrap_or_default()
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
        if !is_within() {
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    fn until(deadline: u64) -> Times {
        Times::new(None, at(deadline))
    }

    fn frame(times: Times) -> Frame {
        Frame::new(times, 1, None)
    }

    #[test]
    fn the_nearest_limit_counts_and_a_new_attempt_forgets_that_of_the_last_one() {
        let [outer, own] = [(5, 9), (7, 8)].map(|(cut, deadline)| Times {
            cut: at(cut),
            ..until(deadline)
        });
        assert_eq!(own.nearest(), at(7));
        let inner = frame(own);
        inner.inherit(&frame(outer));
        let times = inner.times.get();
        assert_eq!((times.deadline, times.nearest()), (at(8), at(5)));
        assert_eq!(times.started, None, "it has the nearer deadline");
        inner.renew_limits();
        assert_eq!(inner.times.get(), until(8));
        let inherits = Frame::default();
        inherits.inherit(&frame(outer));
        assert_eq!(inherits.times.get().deadline, at(9));
        assert!(inherits.times.get().started.is_some());
    }

    #[test]
    fn a_call_that_passes_over_a_delay_is_older_but_no_deadline_comes_of_it() {
        let older = |times: Times| {
            let frame = frame(times);
            frame.start(|| at(4));
            frame.pass_over(Duration::from_nanos(2));
            frame.times.get()
        };
        let started = Some(at(2));
        assert_eq!(older(until(9)), Times::new(started, at(7)));
        assert_eq!(older(Times::default()), Times::new(started, Stamp::NEVER));
    }

    /// Also of a call without limits that no one observes. It looks at the clock for nothing else before its first failure.
    #[test]
    fn the_length_of_an_inherited_deadline_is_what_was_left_when_the_call_began() {
        let [outer, call] = [Frame::of_scope(Stamp::NEVER), Frame::default()];
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
