use std::cell::Cell;
use std::error::Error as _;
use std::future::pending;
use std::io;
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::task::{JoinSet, spawn, yield_now};
use tokio::time::{sleep, timeout};

use super::*;
use crate::call::{Cancels, Cut, Judgement, unless, unless_begun};
use crate::classify::{Assessment, Lost, Retryable, Ruling, Verdict, verdict_of};
use crate::context::Attempt;
#[cfg(feature = "testing")]
use crate::listen::with_report;
use crate::lookup::{Failed, Nothing};
use crate::policy::Policy;
use crate::propagate::propagate;
use crate::site::{Site, SiteSettings, SiteState};
use crate::stopped::{Outcome, Stopped};

const POLICY: Policy = Policy::new()
    .with_attempts(3)
    .with_timeout(Duration::from_secs(1));

const NO_LIMITS: Policy = Policy::new().with_attempts(3);
const MINUTE: Duration = Duration::from_secs(60);

async fn hang() -> Result<(), Stopped> {
    pending().await
}

/// One of which it is known how it ended.
async fn open_commit<F: Future>(future: F) -> F::Output {
    let committed = super::open_commit(async { Ok::<_, io::Error>(future.await) });
    committed.await.unwrap()
}

impl Lost for io::Error {
    fn is_lost(&self) -> bool {
        false
    }
}

/// Where an attempt hangs.
#[derive(Clone, Copy, PartialEq)]
enum Hangs {
    InCommit,
    AfterCommit,
}

/// Commits, and hangs.
async fn transaction(hangs: Hangs) -> Result<(), Stopped> {
    if hangs == Hangs::InCommit {
        open_commit(hang()).await
    } else {
        open_commit(yield_now()).await;
        hang().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_cuts_a_commit_is_not_retried() {
    let attempts = Cell::new(0);
    let call = |hangs| {
        attempts.set(attempts.get() + 1);
        transaction(hangs)
    };
    let stopped = POLICY.run(|| call(Hangs::InCommit)).unboxed().await;
    let stopped = stopped.unwrap_err();
    assert_eq!(stopped.outcome(), Outcome::Timeout);
    assert_eq!((stopped.attempts(), attempts.replace(0)), (1, 1));
    assert_eq!(stopped.verdict(), Verdict::Unknown);

    let stopped = POLICY.run(|| call(Hangs::AfterCommit)).unboxed().await;
    let stopped = stopped.unwrap_err();
    assert_eq!((stopped.attempts(), attempts.get()), (3, 3));
    assert_eq!(stopped.verdict(), Verdict::Transient);
}

#[cfg(feature = "testing")]
#[tokio::test(start_paused = true)]
async fn the_verdict_of_a_cut_commit_is_unknown_in_the_report_and_in_the_log() {
    use crate::testing::Scope;

    for (hangs, expected) in [
        (Hangs::InCommit, vec![Verdict::Unknown]),
        (Hangs::AfterCommit, vec![Verdict::Transient; 3]),
    ] {
        let call = with_report(POLICY.run(|| transaction(hangs)).unboxed());
        let ((stopped, report), log) = Scope::new().run(call).await;
        assert_eq!(
            report.unwrap().verdict(),
            Some(stopped.unwrap_err().verdict())
        );
        assert_eq!(log.calls()[0].verdicts(), expected);
    }
}

#[cfg(feature = "testing")]
#[tokio::test(start_paused = true)]
async fn a_success_after_a_timeout_reports_the_verdict_of_the_timeout() {
    let attempts = Cell::new(0);
    let call = || async {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            return hang().await;
        }
        // The body goes on without the commit.
        let cut = timeout(Duration::from_millis(1), open_commit(hang())).await;
        assert!(cut.is_err());
        Ok(())
    };
    let (result, report) = with_report(POLICY.run(call).unboxed()).await;
    result.unwrap();
    assert_eq!(report.unwrap().verdict(), Some(Verdict::Transient));
}

#[cfg(feature = "testing")]
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_in_a_commit_reports_the_verdict_of_the_attempt_before() {
    let attempts = Cell::new(0);
    let call = || async {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            hang().await
        } else {
            transaction(Hangs::InCommit).await
        }
    };
    // The second attempt begins after 1 s and a wait of at most 100 ms.
    let two_attempts = Duration::from_millis(1_500);
    let (dropped, report) = with_report(timeout(two_attempts, POLICY.run(call).unboxed())).await;
    dropped.unwrap_err();
    let report = report.unwrap();
    assert_eq!((report.outcome(), report.attempts()), (Outcome::Dropped, 2));
    assert_eq!(report.verdict(), Some(Verdict::Transient));
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_ends_does_not_close_one_that_was_dropped() {
    let attempts = Cell::new(0);
    let call = || async {
        attempts.set(attempts.get() + 1);
        let cut = timeout(Duration::from_millis(1), open_commit(hang())).await;
        assert!(cut.is_err());
        open_commit(async {}).await;
        hang().await
    };
    let stopped = POLICY.run(call).unboxed().await.unwrap_err();
    assert_eq!((stopped.verdict(), attempts.get()), (Verdict::Unknown, 1));
}

#[test]
fn an_attempt_lists_each_open_effect_once_and_no_other() {
    let mut frame = Frame::of_scope(crate::clock::Stamp::NEVER);
    frame.begin_attempt(None);
    let commits = [(); 2].map(|()| Arc::new(OpenEffect::new(Effect::Commit)));
    assert!(commits.iter().all(|commit| frame.open(commit).unwrap()));
    assert_eq!(frame.rest().noted().open_effects().count(), 2);
    commits[0].ended.raise();
    // A session that posts keeps one request, whose answer came, and those without an answer.
    for _ in 0..3 {
        let request = Arc::new(OpenEffect::new(Effect::Request));
        frame.open(&request).unwrap();
        request.answered.raise();
        assert_eq!(frame.open_effect(), Some(Effect::Commit));
        assert!(frame.rest().noted().open_effects().count() <= 3);
    }
    commits[1].ended.raise();
    assert_eq!(frame.open_effect(), Some(Effect::Request));
    frame.progress();
    assert_eq!(frame.open_effect(), None);
}

/// What is between an outer attempt and the transaction of an inner call.
#[derive(Debug, Clone, Copy)]
enum Between {
    Calls,
    /// Nothing polls the inner call until its task wakes it.
    Unordered,
    Tasks,
    /// A call that may run twice: what it leaves open may be repeated.
    Harmless,
}

async fn within(between: Between, hangs: Hangs) -> Result<(), Stopped> {
    let in_task = move || async move {
        yield_now().await;
        spawn(propagate(transaction(hangs))).await.unwrap()
    };
    let call = move || NO_LIMITS.run(in_task).unboxed();
    match between {
        Between::Calls => {
            let call = || NO_LIMITS.run(|| transaction(hangs)).unboxed();
            NO_LIMITS.run(call).unboxed().await
        }
        Between::Unordered => {
            let mut calls = FuturesUnordered::from_iter([call(), call()]);
            calls.next().await.unwrap()
        }
        Between::Tasks => {
            let mut tasks = JoinSet::new();
            tasks.spawn(propagate(call()));
            tasks.join_next().await.unwrap().unwrap()
        }
        Between::Harmless => NO_LIMITS.run(in_task).with_idempotent(true).unboxed().await,
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_further_out_that_cuts_a_commit_is_not_retried() {
    use Between::{Calls, Harmless, Tasks, Unordered};
    for between in [Calls, Unordered, Tasks, Harmless] {
        for (hangs, repeats) in [
            (Hangs::InCommit, matches!(between, Harmless)),
            (Hangs::AfterCommit, true),
        ] {
            let attempts = Cell::new(0);
            let outer = || {
                attempts.set(attempts.get() + 1);
                within(between, hangs)
            };
            let stopped = POLICY.run(outer).unboxed().await.unwrap_err();
            assert_eq!(stopped.outcome(), Outcome::Timeout);
            let expected = if repeats { 3 } else { 1 };
            assert_eq!(
                (stopped.attempts(), attempts.get()),
                (expected, expected),
                "{between:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_an_inner_timeout_cut_is_not_retried_further_out() {
    let attempts = Cell::new(0);
    let outer = || {
        attempts.set(attempts.get() + 1);
        POLICY.run(|| transaction(Hangs::InCommit)).unboxed()
    };
    let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
    assert_eq!(stopped.unwrap_err().verdict(), Verdict::Unknown);
    assert_eq!(attempts.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cut_commit_is_not_repeated_while_nobody_has_read_its_error() {
    let attempts = Cell::new(0);
    let outer = || async {
        attempts.set(attempts.get() + 1);
        let inner = POLICY.run(|| transaction(Hangs::InCommit)).unboxed();
        let (_, hung) = tokio::join!(inner, hang());
        hung
    };
    let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
    assert_eq!(stopped.unwrap_err().verdict(), Verdict::Unknown);
    assert_eq!(attempts.get(), 1);
}

/// Both orders of the two, at one instant and after it.
#[tokio::test(start_paused = true)]
async fn a_call_beside_it_that_succeeds_does_not_take_a_cut_commit_back() {
    let policy = POLICY.with_timeout(MINUTE);
    for (millis, first) in [(1_000, true), (1_000, false), (1_500, true), (1_500, false)] {
        let attempts = Cell::new(0);
        let outer = || async {
            attempts.set(attempts.get() + 1);
            let cut = POLICY.run(|| transaction(Hangs::InCommit)).unboxed();
            let beside = policy.run(|| async {
                sleep(Duration::from_millis(millis)).await;
                Ok::<_, Stopped>(())
            });
            let beside = beside.unboxed();
            let (cut, beside) = if first {
                tokio::join!(biased; cut, beside)
            } else {
                let (beside, cut) = tokio::join!(biased; beside, cut);
                (cut, beside)
            };
            beside.and(cut)
        };
        let ended = policy.run(outer).when(|_| true).unboxed().await;
        assert_eq!(ended.unwrap_err().outcome(), Outcome::Timeout);
        assert_eq!(attempts.get(), 1, "{millis} {first}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_commit_is_not_repeated_behind_an_io_error() {
    let attempts = Cell::new(0);
    let outer = || async {
        attempts.set(attempts.get() + 1);
        let inner = POLICY.run(|| transaction(Hangs::InCommit)).unboxed();
        inner.await.map_err(io::Error::from)
    };
    let error = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
    assert_eq!(error.unwrap_err().verdict(), Verdict::Unknown);
    assert_eq!(attempts.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_may_run_twice_is_repeated_after_its_commit_was_cut() {
    let attempts = Cell::new(0);
    let outer = || async {
        attempts.set(attempts.get() + 1);
        match attempts.get() {
            1 => POLICY.run(|| transaction(Hangs::InCommit)).unboxed().await,
            _ => hang().await,
        }
    };
    let policy = POLICY.with_timeout(MINUTE);
    let run = policy.run(outer).with_idempotent(true);
    let stopped = run.unboxed().await;
    assert_eq!(stopped.unwrap_err().verdict(), Verdict::Transient);
    assert_eq!(attempts.get(), 3, "the later attempts have no open commit");
}

#[tokio::test(start_paused = true)]
async fn a_commit_in_before_retry_is_not_repeated_further_out() {
    static SHARED: SiteState = SiteState::NEW;
    static SITE: Site<true> = Site(SiteSettings::new("test", NO_LIMITS, &SHARED));
    let attempts = Cell::new(0);
    let outer = || async {
        attempts.set(attempts.get() + 1);
        let mut call = SITE.begin::<Nothing>(&SITE);
        let _ = call.attempt(async {}).await;
        let lost = Ruling::retry(Assessment::new(Verdict::Transient));
        let at = call.state.fail(lost, &"lost").expect("another attempt");
        call.state.next(at).await;
        let _ = call.split().0.prepare(open_commit(pending::<()>())).await;
        hang().await
    };
    let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
    assert_eq!(stopped.unwrap_err().verdict(), Verdict::Unknown);
    assert_eq!(attempts.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_earlier_attempts_commit_leaves_the_present_one_open() {
    let attempts = Cell::new(0);
    let call = || async {
        attempts.set(attempts.get() + 1);
        if attempts.get() > 1 {
            return open_commit(hang()).await.map_err(io::Error::from);
        }
        let commit = open_commit(sleep(Duration::from_millis(500)));
        drop(spawn(propagate(commit)));
        yield_now().await;
        Err(io::ErrorKind::ConnectionReset.into())
    };
    let policy = POLICY.with_base(Duration::from_millis(1));
    let run = policy.run(call).with_idempotent(true);
    let error = run.unboxed().await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Unknown);
    assert_eq!(attempts.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_next_attempt_has_no_open_commit() {
    let attempts = Cell::new(0);
    let call = || async {
        attempts.set(attempts.get() + 1);
        if attempts.get() > 1 {
            return hang().await.map_err(io::Error::from);
        }
        let cut = timeout(Duration::from_millis(1), open_commit(hang())).await;
        assert!(cut.is_err());
        Err(io::ErrorKind::ConnectionReset.into())
    };
    let run = POLICY.run(call).with_idempotent(true);
    let error = run.unboxed().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!((error.verdict(), attempts.get()), (Verdict::Transient, 3));
}

/// Also if the commit runs on in a task.
#[tokio::test(start_paused = true)]
async fn no_rule_repeats_an_attempt_with_an_open_commit_whatever_its_error_is() {
    for hangs in [Hangs::InCommit, Hangs::AfterCommit] {
        let attempts = Cell::new(0);
        let call = || async {
            attempts.set(attempts.get() + 1);
            let cut = timeout(Duration::from_millis(1), transaction(hangs)).await;
            assert!(cut.is_err());
            Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionRefused))
        };
        let inner = || POLICY.run(call).when(|_| true).unboxed();
        let outer = POLICY.with_timeout(MINUTE).run(inner).when(|_| true);
        outer.unboxed().await.unwrap_err();
        let expected = if hangs == Hangs::InCommit { 1 } else { 5 };
        assert_eq!(attempts.get(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_failed_with_its_connection_is_not_repeated() {
    for kind in [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::ConnectionReset,
    ] {
        let attempts = Cell::new(0);
        let call = || {
            attempts.set(attempts.get() + 1);
            super::open_commit(async { Err::<(), _>(io::Error::from(kind)) })
        };
        let run = POLICY.run(call).when(|_| true);
        assert_eq!(run.unboxed().await.unwrap_err().kind(), kind);
        assert_eq!(attempts.get(), 1, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_in_a_task_that_carries_the_attempt_is_not_retried() {
    let attempts = Cell::new(0);
    let call = || async {
        attempts.set(attempts.get() + 1);
        let task = spawn(propagate(open_commit(pending::<()>())));
        task.await.map_err(io::Error::from)
    };
    let error = POLICY.run(call).unboxed().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(attempts.get(), 1);
}

/// Waits and then commits, in the attempts with these numbers.
async fn commits_in(attempts: &[u32]) -> Result<(), Stopped> {
    let number = Attempt::current().expect("in an attempt").number();
    sleep(Duration::from_millis(100)).await;
    if attempts.contains(&number) {
        open_commit(hang()).await
    } else {
        hang().await
    }
}

const HEDGED: Policy = POLICY.with_hedge(Duration::from_millis(200));

fn judge<'e>(error: &'e Failed<'e, Stopped>) -> Judgement<'e, Stopped, Nothing> {
    Judgement {
        ruling: Ruling::by(verdict_of(error.error()), error.harmless),
        words: error.words(),
        keeps: error.dropped(),
    }
}

/// A call that hedges, as an annotated function does.
async fn hedged(policy: Policy, commits: &[u32], cancel: impl Future) -> Result<(), Stopped> {
    static STATE: SiteState = SiteState::NEW;
    static SITE: Site<true> = Site(SiteSettings::new("hedged", POLICY, &STATE));
    let settings = SITE.of_call().with_policy(|_| policy);
    let mut call = SITE.begin(&settings);
    let mut cancel = pin!(cancel);
    loop {
        let race = call.race(
            || commits_in(commits),
            |call, ended| call.settle(ended, judge),
        );
        let Some(settled) = unless(cancel.as_mut(), race).await else {
            return call.cut_between(Cut::Cancelled);
        };
        match settled {
            ControlFlow::Continue(at) => at.await,
            ControlFlow::Break(result) => return result,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_an_open_commit_does_not_hedge() {
    let stopped = hedged(HEDGED, &[1], pending::<()>()).await.unwrap_err();
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 1)
    );
    assert_eq!(stopped.verdict(), Verdict::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_cuts_the_commit_of_a_hedge_ends_the_call() {
    let stopped = hedged(HEDGED, &[2], pending::<()>()).await.unwrap_err();
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 2)
    );
    assert_eq!(stopped.verdict(), Verdict::Unknown);
    let begun = hedged(HEDGED, &[], pending::<()>()).await.unwrap_err();
    assert_eq!((begun.attempts(), begun.verdict()), (3, Verdict::Transient));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_is_in_doubt_if_either_attempt_is() {
    for (commits, verdict) in [(&[2][..], Verdict::Unknown), (&[3], Verdict::Transient)] {
        let policy = HEDGED
            .with_timeout(MINUTE)
            .with_deadline(Duration::from_secs(1));
        let stopped = hedged(policy, commits, pending::<()>()).await.unwrap_err();
        assert_eq!(
            (stopped.outcome(), stopped.attempts()),
            (Outcome::Deadline, 2)
        );
        assert_eq!(stopped.verdict(), verdict);

        let policy = HEDGED.with_timeout(MINUTE);
        let cancel = sleep(Duration::from_secs(1));
        let stopped = hedged(policy, commits, cancel).await.unwrap_err();
        assert_eq!(stopped.outcome(), Outcome::Cancelled);
        let in_doubt = stopped.source().is_some();
        assert_eq!(in_doubt, verdict == Verdict::Unknown);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_the_signal_that_drops_the_commit_of_the_other_is_in_doubt() {
    static STATE: SiteState = SiteState::NEW;
    static SITE: Site<true> = Site(SiteSettings::new("hedged", POLICY, &STATE));
    let settings = SITE.of_call().with_policy(|_| HEDGED.with_timeout(MINUTE));
    let mut call = SITE.begin(&settings);
    let mut cancel = pin!(call.signal(Cancels::into_future(sleep(Duration::from_millis(500)))));
    let body = || async {
        if Attempt::current().unwrap().number() == 1 {
            // The commit begins after the hedge, which begins at 200 ms.
            sleep(Duration::from_millis(300)).await;
            return open_commit(hang()).await;
        }
        // Fails after the signal, with a transient error.
        sleep(Duration::from_millis(400)).await;
        let step = POLICY
            .with_attempts(1)
            .with_timeout(Duration::from_millis(1));
        step.run(hang).unboxed().await
    };
    let race = call.race(body, |call, ended| call.settle(ended, judge));
    let settled = unless_begun(cancel.as_mut(), race)
        .await
        .expect("it had begun");
    let at = settled.continue_value().expect("it would be retried");
    assert!(unless(cancel.as_mut(), at).await.is_none());
    let result: Result<(), Stopped> = call.cut_between(Cut::Cancelled);
    let stopped = result.unwrap_err();
    assert_eq!(stopped.outcome(), Outcome::Cancelled);
    assert!(
        stopped.source().is_some(),
        "`{stopped}` says nothing of the commit"
    );
}

/// How the effect of the first body ends, 400 ms after it began.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FirstEnds {
    WithoutEffect,
    Answered,
    InDoubt,
}

/// Both bodies come to their effect while both run, the second one in a call, in which nothing polls it until it is woken. Both may be
/// in a call, which may run `twice` or not, and begins before. Returns how many of them began.
async fn two_effects(ends: FirstEnds, idempotent: bool, twice: bool) -> (Result<(), Stopped>, u32) {
    static STATE: SiteState = SiteState::NEW;
    static SITE: Site<true> = Site(SiteSettings::new("hedged", POLICY, &STATE));
    let mut settings = SITE.of_call().with_policy(|_| HEDGED.with_attempts(2));
    settings.idempotent = idempotent.then_some(true);
    let mut call = SITE.begin(&settings);
    let begun = &Cell::new(0);
    let effect = |ends: FirstEnds, millis| {
        let effect = async move {
            begun.set(begun.get() + 1);
            sleep(Duration::from_millis(millis)).await;
        };
        open(Effect::Request, effect, move |()| match ends {
            FirstEnds::WithoutEffect => Ended::Known,
            FirstEnds::Answered => Ended::Answered,
            FirstEnds::InDoubt => Ended::InDoubt,
        })
    };
    let body = || async {
        let is_first = Attempt::current().unwrap().number() == 1;
        if is_first {
            sleep(Duration::from_millis(250)).await;
            let work = || async {
                sleep(Duration::from_millis(50)).await;
                effect(ends, 400).await;
                Ok(())
            };
            within_call(twice, work).await?;
            if ends == FirstEnds::Answered {
                return hang().await;
            }
            return POLICY
                .with_attempts(1)
                .with_timeout(Duration::ZERO)
                .run(hang)
                .unboxed()
                .await;
        }
        let once = async || {
            effect(FirstEnds::Answered, 0).await;
            Ok(())
        };
        let once = || async { FuturesUnordered::from_iter([once()]).next().await.unwrap() };
        let work = || async {
            sleep(Duration::from_millis(200)).await;
            NO_LIMITS.run(once).unboxed().await
        };
        within_call(twice, work).await
    };
    let race = call.race(body, |call, ended| {
        call.settle(ended, |error| Judgement {
            ruling: Ruling::retry(Assessment::new(Verdict::Transient)),
            words: &"lost",
            keeps: error.dropped(),
        })
    });
    let settled = race.await.break_value().expect("no attempt is left");
    (settled, begun.get())
}

/// Does the work in a call that must not run twice, unless it may.
async fn within_call<F: Future<Output = Result<(), Stopped>>>(
    twice: bool,
    work: impl Fn() -> F,
) -> Result<(), Stopped> {
    if twice {
        return work().await;
    }
    let once = NO_LIMITS.run(work).with_idempotent(false);
    once.unboxed().await
}

/// The second goes on if the first had no effect. It is dropped if that may have had one.
#[tokio::test(start_paused = true)]
async fn of_two_bodies_one_begins_at_a_time_what_may_not_happen_twice() {
    for (ends, expected) in [
        (FirstEnds::WithoutEffect, (true, 2)),
        (FirstEnds::Answered, (false, 1)),
        (FirstEnds::InDoubt, (false, 1)),
    ] {
        for twice in [true, false] {
            let (ended, begun) = two_effects(ends, false, twice).await;
            assert_eq!((ended.is_ok(), begun), expected, "{ends:?}: {ended:?}");
        }
        let (ended, begun) = two_effects(ends, true, true).await;
        assert_eq!((ended.is_ok(), begun), (true, 2), "{ends:?}: {ended:?}");
    }
}

#[tokio::test]
async fn outside_of_a_call_the_future_is_only_awaited() {
    assert_eq!(open_commit(async { 7 }).await, 7);
}
