use std::time::Duration;

use super::*;
use crate::classify::{AskedDelay, Verdict};

fn frame(number: u32, most: u32) -> Frame {
    let mut frame = frame_with(until(u64::MAX));
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
        (Bodies::Only(First), First, 1),
        (Bodies::Only(Hedge), Hedge, 2),
    ] {
        let mut frame = frame(2, 3);
        frame.bodies = bodies;
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
        let mut frame = frame(2, 3);
        frame.refusal.set(aside.2);
        frame.set_aside(PreviousFailure::Failed(aside.0), aside.1);
        frame.previous = Some(PreviousFailure::Failed(verdict));
        frame.refusal.set(refusal);
        let hint = frame.join_aside(hint);
        let verdict = frame.previous.map(PreviousFailure::verdict);
        (verdict.unwrap(), hint, frame.refusal())
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

#[test]
fn a_scope_narrows_the_limits_of_the_frame_around_it_and_of_no_other() {
    let deadline = || outer(|frame| frame.limits().deadline);
    let (mut call, mut other) = (frame_with(until(9)), frame_with(until(8)));
    let mut scopes = [5, 7].map(|nanos| Frame::of_scope(at(nanos)));
    let [near, far] = &mut scopes;
    let inside = || {
        assert_eq!(deadline(), Some(at(5)));
        other.lend(|| assert_eq!(deadline(), Some(at(8))));
    };
    call.lend(|| near.narrow(|| far.narrow(inside)));
    assert_eq!(call.limits().deadline, at(9));
}

#[test]
fn a_refusal_counts_until_the_body_is_pending_unless_it_is_that_of_a_hook() {
    let mut call = frame_with(until(9));
    let refuse = || {
        outer(|frame| frame.refuse(Some(Outcome::Budget), false));
    };
    call.lend(|| beside_body(refuse));
    assert_eq!(call.refusal(), None);
    call.lend(refuse);
    assert_eq!(call.refusal(), Some(Outcome::Budget));
    call.suspend();
    assert_eq!(call.refusal(), None);
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
    let mut inner = frame_with(own);
    inner.times.inherit(&outer);
    let times = inner.times;
    assert_eq!((times.deadline, times.nearest()), (at(8), at(5)));
    assert_eq!(times.started, None, "it has the nearer deadline");
    inner.renew_limits();
    assert_eq!(inner.times, until(8));
    let mut inherits = until(u64::MAX);
    inherits.inherit(&outer);
    assert_eq!(inherits.deadline, at(9));
    assert!(inherits.started.is_some());
}

#[test]
fn a_call_that_passes_over_a_delay_is_older_but_no_deadline_comes_of_it() {
    let older = |times: Times| {
        let mut frame = frame_with(times);
        frame.times.start(|| at(4));
        frame.pass_over(Duration::from_nanos(2));
        frame.times
    };
    let started = Some(at(2));
    assert_eq!(older(until(9)), Times::new(started, at(7)));
    assert_eq!(older(until(u64::MAX)), Times::new(started, Stamp::NEVER));
}

/// Also of a call without limits that no one observes. It looks at the clock for nothing else before its first failure.
#[test]
fn the_length_of_an_inherited_deadline_is_what_was_left_when_the_call_began() {
    let [outer, mut call] = [Stamp::NEVER, at(u64::MAX)].map(|at| Times::new(None, at));
    call.inherit(&outer);
    assert_eq!(call.started, None, "there is no deadline");
    let before = Stamp::now();
    let limited = Times::new(None, before.after(Some(HOUR)));
    call.inherit(&limited);
    let began = call.started.unwrap();
    assert!(before <= began && began <= Stamp::now());
    let failed = began.after(Some(HOUR / 2));
    let length = HOUR.saturating_sub(began.since(before));
    let left = length.saturating_sub(HOUR / 2);
    assert_eq!(call.to_deadline(failed), Some((length, left)));
}
