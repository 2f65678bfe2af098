//! `hedge`: a second attempt beside the first, if the first is slow.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use reattempt::testing::Scope;
use reattempt::types::HedgeOutcome;
use reattempt::{
    Attempt, Budget, Outcome, Policy, Report, Retryable, Stopped, Verdict, propagate, retry,
    set_enabled, with_report,
};
use tokio::time::{Instant, advance, sleep, timeout};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A test scope in which calls wait. Each has full shares of its own.
fn scope() -> Scope {
    Scope::new().with_waits(true)
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("reset by attempt {0}")]
    #[retryable(transient)]
    Reset(u32),
    #[error("busy")]
    #[retryable(throttled, after = "wait")]
    Busy { wait: Duration },
    #[error("no such item")]
    #[retryable(permanent)]
    Missing,
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

/// How an attempt ends, and after how many milliseconds.
#[derive(Debug, Clone, Copy)]
enum Step {
    Succeeds(u64),
    Fails(u64),
    IsBusy(u64, u64),
    IsMissing(u64),
    Hangs,
}
use Step::{Fails, Hangs, IsBusy, IsMissing, Succeeds};

/// Plays one step for each attempt, by its number.
struct Script {
    steps: Vec<Step>,
    began: Instant,
    /// When each attempt began.
    times: RefCell<Vec<u64>>,
    running: Cell<u32>,
    budget: Budget,
}

impl Script {
    fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            began: Instant::now(),
            times: RefCell::default(),
            running: Cell::new(0),
            budget: Budget::new(),
        }
    }

    async fn play(&self) -> Result<u32, Failure> {
        struct Running<'r>(&'r Cell<u32>);
        impl Drop for Running<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - 1);
            }
        }
        self.running.set(self.running.get() + 1);
        let _running = Running(&self.running);
        self.times.borrow_mut().push(self.now());
        let number = Attempt::current().expect("in an attempt").number();
        let step = self.steps[number as usize - 1];
        match step {
            Succeeds(after) | Fails(after) | IsBusy(after, _) | IsMissing(after) => {
                sleep(ms(after)).await;
            }
            Hangs => pending().await,
        }
        assert_eq!(
            Attempt::current().map(|attempt| attempt.number()),
            Some(number)
        );
        match step {
            Succeeds(_) => Ok(number),
            Fails(_) => Err(Failure::Reset(number)),
            IsBusy(_, wait) => Err(Failure::Busy { wait: ms(wait) }),
            IsMissing(_) => Err(Failure::Missing),
            Hangs => unreachable!(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }
}

/// How many attempts a call makes, and what becomes of its hedge.
async fn hedged<T>(script: &Script, call: impl Future<Output = T>) -> (u32, Option<HedgeOutcome>) {
    let (_, report, _) = played(script, call).await;
    (report.attempts(), report.hedge())
}

/// A function that plays its script, with the budget of that.
macro_rules! plays {
    ($name:ident($($keys:tt)*) $(, $argument:ident: $of:ty)*) => {
        #[retry(budget = script.budget, $($keys)*)]
        async fn $name(script: &Script, $($argument: $of),*) -> Result<u32, Failure> {
            script.play().await
        }
    };
}

/// The result, the report, and when the call ended.
async fn played<T>(script: &Script, call: impl Future<Output = T>) -> (T, Report, u64) {
    // Attempts that hang may leave no timer, and then a broken call would wait forever.
    let ended = timeout(Duration::from_secs(3600), with_report(call)).await;
    let (result, report) = ended.expect("it ends within an hour");
    assert_eq!(script.running.get(), 0, "a loser still runs");
    (result, report.expect("the call ended"), script.now())
}

plays! { limited(attempts = 3, timeout = "400ms", hedge = "20ms", base = "100ms", jitter = "none") }

plays! { unlimited(attempts = 3, hedge = "20ms", base = "100ms", jitter = "none") }

/// Steps, when the call ends, how many attempts it makes, and what becomes of the hedge.
type Case = (&'static [Step], u64, u32, Option<HedgeOutcome>);

const WON: Option<HedgeOutcome> = Some(HedgeOutcome::Won);
const LOST: Option<HedgeOutcome> = Some(HedgeOutcome::Lost);

const CASES: [Case; 8] = [
    (&[Succeeds(5)], 5, 1, None),
    (&[Succeeds(500), Succeeds(10)], 30, 2, WON),
    (&[Succeeds(30), Succeeds(100)], 30, 2, LOST),
    (&[Succeeds(60), Fails(10)], 60, 2, LOST),
    (&[Fails(40), Succeeds(60)], 80, 2, WON),
    (&[Fails(40), Fails(60), Succeeds(5)], 285, 3, LOST),
    (&[Fails(5), Succeeds(5)], 110, 2, None),
    (&[Hangs, Succeeds(379)], 399, 2, WON),
];

/// A case that needs a timeout, which both share.
const CUT: [Case; 1] = [(&[Hangs, Hangs, Succeeds(5)], 605, 3, LOST)];

#[tokio::test(start_paused = true)]
async fn the_first_success_is_the_result() {
    for (number, (steps, ends, attempts, hedge)) in CASES.iter().chain(&CUT).enumerate() {
        let expected = (*ends, *attempts, *hedge);
        if number < CASES.len() {
            let script = Script::new(steps.iter().copied());
            let (result, report, ended) = scope().run(played(&script, unlimited(&script))).await.0;
            result.unwrap();
            assert_eq!((ended, report.attempts(), report.hedge()), expected);
        }
        let script = Script::new(steps.iter().copied());
        let (result, report, ended) = scope().run(played(&script, limited(&script))).await.0;
        result.unwrap_or_else(|error| panic!("case {number}: {error}"));
        assert_eq!(
            (ended, report.attempts(), report.hedge()),
            expected,
            "case {number}, {steps:?}"
        );
        let failed = steps
            .iter()
            .take(*attempts as usize)
            .any(|step| matches!(step, Fails(after) if *after < *ends) || number >= CASES.len());
        let success = if failed {
            Outcome::SuccessAfterRetry
        } else {
            Outcome::Success
        };
        assert_eq!(report.outcome(), success, "case {number}, {steps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_text_of_a_report_says_what_became_of_the_hedge() {
    for (steps, says) in [
        ([Hangs, Succeeds(5)], "2 attempts in 25ms, hedge won"),
        ([Succeeds(25), Hangs], "2 attempts in 25ms, hedge lost"),
        ([Succeeds(5), Hangs], "1 attempt in 5ms"),
    ] {
        let script = Script::new(steps);
        let (_, report, _) = scope().run(played(&script, limited(&script))).await.0;
        let says = format!("{}: success, {says}", report.function());
        assert_eq!(report.to_string(), says);
    }
}

#[tokio::test(start_paused = true)]
async fn if_all_attempts_fail_the_caller_gets_the_last_error() {
    for with_limits in [true, false] {
        let script = Script::new([Fails(40), Fails(60), Fails(5)]);
        let call = async {
            if with_limits {
                played(&script, limited(&script)).await
            } else {
                played(&script, unlimited(&script)).await
            }
        };
        let ((result, report, ended), _) = scope().run(call).await;
        assert!(matches!(result, Err(Failure::Reset(3))), "{result:?}");
        assert_eq!((ended, report.attempts(), report.hedge()), (285, 3, LOST));
        assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
        assert_eq!(script.times.take(), [0, 20, 280]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_retryable_ends_the_call_and_drops_the_other() {
    for (steps, ends) in [([Hangs, IsMissing(10)], 30), ([IsMissing(30), Hangs], 30)] {
        let script = Script::new(steps);
        let ((result, report, ended), _) = scope().run(played(&script, limited(&script))).await;
        assert!(matches!(result, Err(Failure::Missing)));
        assert_eq!((ended, report.attempts(), report.hedge()), (ends, 2, LOST));
        assert_eq!(report.outcome(), Outcome::NotRetryable);
    }
}

#[tokio::test(start_paused = true)]
async fn if_both_are_ready_at_once_one_is_the_result_and_the_other_is_lost() {
    let script = Script::new([Succeeds(50), Succeeds(30)]);
    let ((result, report, ended), log) = scope().run(played(&script, limited(&script))).await;
    let expected = if result.unwrap() == 2 { WON } else { LOST };
    assert_eq!((ended, report.hedge()), (50, expected));
    assert_eq!(report.outcome(), Outcome::Success);
    assert!(log.calls()[0].verdicts().is_empty(), "neither failed");
}

#[tokio::test(start_paused = true)]
async fn the_larger_hint_of_two_failures_counts() {
    for (steps, third) in [
        ([IsBusy(30, 500), IsBusy(20, 900), Succeeds(0)], 40 + 900),
        ([IsBusy(30, 900), IsBusy(20, 500), Succeeds(0)], 40 + 900),
        ([IsBusy(30, 900), Fails(20), Succeeds(0)], 40 + 900),
        ([Fails(30), IsBusy(20, 900), Succeeds(0)], 40 + 900),
        // The attempt that fails last is cut by its timeout, and the other one was asked to wait.
        ([Hangs, IsBusy(20, 900), Succeeds(0)], 400 + 900),
        ([IsBusy(30, 900), Hangs, Succeeds(0)], 400 + 900),
        // The delay is that of the second retry, because two attempts failed.
        ([Fails(30), Fails(20), Succeeds(0)], 40 + 200),
    ] {
        let script = Script::new(steps);
        let ((result, report, _), _) = scope().run(played(&script, limited(&script))).await;
        result.unwrap();
        assert_eq!(report.attempts(), 3);
        assert_eq!(script.times.take(), [0, 20, third], "{steps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_failures_the_error_of_the_last_comes_back() {
    plays! { call(attempts = 2, hedge = "20ms") }
    for (steps, last) in [([Fails(40), Fails(10)], 1), ([Fails(30), Fails(50)], 2)] {
        let failed = call(&Script::new(steps)).await;
        assert!(matches!(failed, Err(Failure::Reset(number)) if number == last));
    }
    // If a limit cuts the last, the error of the other is the source.
    let Err(Failure::Stopped(stopped)) = limited(&Script::new([Fails(30), Hangs, Hangs])).await
    else {
        panic!("the third was cut")
    };
    assert!(std::error::Error::source(&stopped).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_is_too_long_counts_also_if_the_other_attempt_times_out() {
    let script = Script::new([Hangs, IsBusy(20, 60_001)]);
    let ((result, report, ended), _) = scope().run(played(&script, limited(&script))).await;
    let Err(Failure::Stopped(stopped)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(stopped.outcome(), Outcome::HintTooLong);
    assert_eq!((ended, report.attempts()), (400, 2));
}

#[tokio::test(start_paused = true)]
async fn two_failures_are_charged_once_and_as_the_dearer_one() {
    for (steps, price) in [
        ([Fails(30), Fails(20), Fails(0)], 2.0),
        ([IsBusy(30, 0), Fails(20), Fails(0)], 4.0),
        ([Fails(30), IsBusy(20, 0), Fails(0)], 4.0),
        ([Hangs, Fails(20), Fails(0)], 6.0),
        ([Fails(30), Hangs, Fails(0)], 6.0),
    ] {
        let script = Script::new(steps);
        let budget = script.budget.capacity();
        let result = limited(&script).await;
        assert!(result.is_err());
        // Two tokens come back in a second.
        let waited = Duration::from_millis(script.now()).as_secs_f64() * 2.0;
        let level = script.budget.level();
        let expected = f64::from(budget) - price;
        assert!(
            (expected..=expected + waited).contains(&level),
            "{steps:?}: {level}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_beside_a_failure_gives_nothing_to_the_budget() {
    let script = Script {
        budget: Budget::aws(),
        ..Script::new([Fails(40), Succeeds(60)])
    };
    let before = drain(&script.budget).await;
    limited(&script).await.unwrap();
    let after = script.budget.level();
    // What any success gives, and no price of a retry, because none was taken.
    assert!(after - before <= 1.0, "{before} {after}");
}

/// Takes one retry from a budget, and returns its level.
async fn drain(budget: &Budget) -> f64 {
    #[retry(attempts = 2, base = "0s", budget = *budget)]
    async fn fails(budget: &&Budget) -> Result<(), Failure> {
        Err(Failure::Reset(1))
    }
    fails(&budget).await.unwrap_err();
    budget.level()
}

#[tokio::test(start_paused = true)]
async fn the_deadline_and_cancel_end_both_attempts() {
    plays! { due(attempts = 3, deadline = "100ms", hedge = "20ms") }
    plays! { cancelled(attempts = 3, hedge = "20ms", cancel = sleep(ms(50))) }
    for (is_due, at, outcome) in [
        (true, 100, Outcome::Deadline),
        (false, 50, Outcome::Cancelled),
    ] {
        let script = Script::new([Hangs, Hangs]);
        let (result, report, ended) = if is_due {
            played(&script, due(&script)).await
        } else {
            played(&script, cancelled(&script)).await
        };
        assert!(matches!(result, Err(Failure::Stopped(stopped)) if stopped.attempts() == 2));
        assert_eq!(
            (ended, report.hedge(), report.outcome()),
            (at, LOST, outcome)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_at_any_instant_loses_nothing() {
    for (steps, ends, ..) in CASES.iter().chain(&CUT) {
        for at in 0..=*ends {
            let script = Script {
                budget: Budget::new().with_refill(0.0),
                ..Script::new(steps.iter().copied())
            };
            let (result, log) = scope()
                .run(timeout(ms(at), with_report(limited(&script))))
                .await;
            assert_eq!(script.running.get(), 0);
            let [call] = log.calls() else {
                panic!("one call")
            };
            let (report, began) = (call.report(), script.times.take().len());
            assert_eq!(report.attempts() as usize, began, "{steps:?} at {at}");
            let ended = u32::from(result.is_ok());
            assert_eq!(report.outcome() == Outcome::Dropped, ended == 0);
            // Each attempt that began failed, succeeded or was lost.
            assert!(call.verdicts().len() + ended as usize <= began);
        }
    }
}

/// The runtime was busy, or the computer asleep.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_begins_late_has_the_time_that_is_left_of_its_attempt() {
    plays! { until_deadline(attempts = 2, hedge = "20ms", deadline = "250ms") }
    async fn late<T>(call: impl Future<Output = T>, by: u64) -> T {
        let mut call = pin!(call);
        let polled = poll_fn(|context| Poll::Ready(call.as_mut().poll(context)));
        assert!(polled.await.is_pending());
        advance(ms(by)).await;
        call.await
    }
    for (steps, attempt, ends, hedge) in [
        ([Hangs, Succeeds(90), Hangs], 2, 390, WON),
        ([Hangs, Succeeds(110), Succeeds(0)], 3, 600, LOST),
    ] {
        let script = Script::new(steps);
        let call = late(limited(&script), 300);
        let ((result, report, ended), _) = scope().run(played(&script, call)).await;
        assert_eq!(
            (result.unwrap(), ended, report.hedge()),
            (attempt, ends, hedge)
        );
    }

    // After its timeout, the attempt is cut, and after the deadline the call ends.
    let script = &Script::new([Hangs, Succeeds(10)]);
    let call = hedged(script, late(limited(script), 500));
    assert_eq!(scope().run(call).await.0, (2, None));
    let call = hedged(script, late(until_deadline(script), 300));
    assert_eq!(scope().run(call).await.0, (1, None));
}

#[tokio::test(start_paused = true)]
async fn the_share_is_exact_although_calls_are_dropped() {
    let mut expected = Vec::new();
    let calls = async {
        // What is missing, in sixteenths of a hedge.
        let mut missing = 0_u32;
        for n in 0..400_u64 {
            let at = n * 7 % 45;
            missing = missing.saturating_sub(1);
            let wants = at >= 20;
            let gets = wants && missing + 16 <= 160;
            missing += if gets { 16 } else { 0 };
            expected.push(wants.then_some(if gets {
                HedgeOutcome::Lost
            } else {
                HedgeOutcome::Refused
            }));
            let script = Script::new([Hangs, Hangs]);
            timeout(ms(at), limited(&script)).await.unwrap_err();
        }
    };
    let ((), log) = scope().run(calls).await;
    let hedges: Vec<_> = log
        .calls()
        .iter()
        .map(|call| call.report().hedge())
        .collect();
    assert_eq!(hedges, expected);
}

#[tokio::test(start_paused = true)]
async fn the_retry_after_two_failures_is_given_back_if_it_never_begins() {
    plays! { call(attempts = 3, hedge = "20ms", base = "100ms", jitter = "none") }
    for (at, price) in [
        (10, 0.0),
        (45, 0.0),
        (79, 0.0),
        (100, 0.0),
        (279, 0.0),
        (281, 2.0),
    ] {
        let script = Script {
            budget: Budget::new().with_refill(0.0),
            ..Script::new([Fails(40), Fails(60), Hangs])
        };
        timeout(ms(at), call(&script)).await.unwrap_err();
        let missing = f64::from(script.budget.capacity()) - script.budget.level();
        assert!((missing - price).abs() < 1e-9, "{missing} at {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn neither_attempt_starves_if_both_use_up_what_tokio_allows() {
    /// Uses up what a task may do in one poll, and is pending.
    async fn hog(turns: &Cell<u32>, last: u32) {
        loop {
            turns.set(turns.get() + 1);
            if turns.get() >= last {
                return;
            }
            for _ in 0..200 {
                tokio::task::coop::consume_budget().await;
            }
        }
    }
    #[retry(attempts = 2, hedge = "1ms")]
    async fn call(first: &Cell<u32>, hedge: &Cell<u32>) -> Result<u32, Failure> {
        let attempt = Attempt::current().unwrap();
        if attempt.is_hedge() {
            hog(hedge, 50).await;
        } else {
            sleep(ms(5)).await;
            hog(first, u32::MAX).await;
        }
        Ok(attempt.number())
    }
    let (first, hedge) = (Cell::new(0), Cell::new(0));
    assert_eq!(call(&first, &hedge).await.unwrap(), 2);
    assert_eq!(hedge.get(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_hedge_where_a_second_attempt_may_not_begin() {
    #[retry(attempts = 3, hedge = "20ms", idempotent = script.steps.is_empty(), budget = script.budget)]
    async fn not_idempotent(script: &Script) -> Result<u32, Failure> {
        script.play().await
    }
    plays! { short(attempts = 3, deadline = "45ms", hedge = "22ms") }
    plays! { shorter(attempts = 3, deadline = "44ms", hedge = "22ms") }
    const TIMED: Policy = Policy::new().with_hedge(ms(20));
    const NO_BUDGET: Policy = TIMED.without_budget();
    #[retry(policy = NO_BUDGET, hedge = "policy")]
    async fn without_budget(script: &Script) -> Result<u32, Failure> {
        script.play().await
    }
    let script = &Script::new([Succeeds(40), Succeeds(1)]);
    assert_eq!(hedged(script, not_idempotent(script)).await, (1, None));
    assert_eq!(
        hedged(script, short(script)).await,
        (2, WON),
        "23 ms are left"
    );
    assert_eq!(hedged(script, shorter(script)).await, (1, None));
    let refused = Some(HedgeOutcome::Refused);
    assert_eq!(hedged(script, without_budget(script)).await, (1, refused));
    let run = TIMED.run(|| script.play()).unboxed();
    assert_eq!(hedged(script, run).await, (1, None), "a run does not hedge");

    let scope_of_one = scope().with_attempts(1);
    let (ended, _) = scope_of_one.run(hedged(script, limited(script))).await;
    assert_eq!(ended, (1, None));
    let call = async {
        set_enabled(false);
        hedged(script, limited(script)).await
    };
    assert_eq!(scope().run(call).await.0, (1, None));
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_less_than_half_full_refuses_a_hedge() {
    plays! { call(attempts = 3, hedge = "20ms") }
    for (taken, expected) in [(5, WON), (6, Some(HedgeOutcome::Refused))] {
        let script = Script {
            budget: Budget::new().with_capacity(20).with_refill(0.0),
            ..Script::new([Succeeds(100), Succeeds(1)])
        };
        for _ in 0..taken {
            drain(&script.budget).await;
        }
        let level = script.budget.level();
        let (_, report, _) = played(&script, call(&script)).await;
        assert_eq!(report.hedge(), expected, "{taken} of ten retries taken");
        assert!(script.budget.level() >= level, "a hedge takes nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_hedges_at_most_ten_times_and_once_for_sixteen_calls() {
    plays! { call(attempts = 2, hedge = "20ms") }
    let hedges = async |calls: usize| {
        let mut hedges = [0, 0];
        for _ in 0..calls {
            let script = Script::new([Succeeds(30), Hangs]);
            match played(&script, call(&script)).await.1.hedge() {
                LOST => hedges[0] += 1,
                Some(HedgeOutcome::Refused) => hedges[1] += 1,
                other => panic!("{other:?}"),
            }
        }
        hedges
    };
    // The first ten calls add ten sixteenths to what they take.
    assert_eq!(hedges(10).await, [10, 0]);
    assert_eq!(hedges(1600).await, [100, 1500]);
    // Its retries add nothing.
    for _ in 0..80 {
        let script = Script::new([Fails(1), Succeeds(1)]);
        assert_eq!(played(&script, call(&script)).await.1.attempts(), 2);
    }
    assert_eq!(hedges(16).await, [6, 10]);
}

#[tokio::test(start_paused = true)]
async fn calls_inside_a_hedge_make_one_attempt_and_calls_inside_either_do_not_hedge() {
    #[retry(attempts = 4, base = "0s", jitter = "none", hedge = "5ms", budget = *budget)]
    async fn inner(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        asked.set(asked.get() + 1);
        sleep(ms(15)).await;
        Err(Failure::Reset(0))
    }
    #[retry(attempts = 2, hedge = "20ms", base = "0s", budget = *budget)]
    async fn outer(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        let (result, report) = with_report(inner(asked, budget)).await;
        assert_eq!(report.unwrap().hedge(), None);
        result
    }
    /// Its policy has no time, so it does not hedge.
    #[retry(policy = Policy::new(), hedge = "policy", budget = *budget, unless = |_| true)]
    async fn without_a_time(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        let (result, report) = with_report(inner(asked, budget)).await;
        assert_eq!(report.unwrap().hedge(), LOST);
        result
    }
    let asked = Cell::new(0);
    without_a_time(&asked, &&Budget::new()).await.unwrap_err();
    asked.set(0);
    let budget = Budget::new();
    let (result, report) = with_report(outer(&asked, &&budget)).await;
    result.unwrap_err();
    assert_eq!(report.unwrap().attempts(), 2);
    assert_eq!(
        asked.get(),
        5,
        "four in the first attempt, one in the hedge"
    );
}

/// The outer call cuts it while both attempts run.
#[tokio::test(start_paused = true)]
async fn a_hedge_counts_as_a_retry_of_an_inner_call_that_is_cut() {
    #[retry(attempts = 2, hedge = "20ms", budget = *budget)]
    async fn inner(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        asked.set(asked.get() + 1);
        pending().await
    }
    #[retry(attempts = 2, timeout = "50ms", base = "0s", budget = "none")]
    async fn outer(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        inner(asked, budget).await
    }
    let asked = Cell::new(0);
    outer(&asked, &&Budget::new()).await.unwrap_err();
    assert_eq!(asked.get(), 2 + 1);
}

/// The second call of the first attempt begins after the first call of the hedge.
#[tokio::test(start_paused = true)]
async fn each_of_two_attempts_counts_its_own_inner_calls() {
    #[retry(attempts = 2, base = "0s", budget = "none")]
    async fn inner(asked: Option<&Cell<u32>>) -> Result<(), Failure> {
        let Some(asked) = asked else { return Ok(()) };
        asked.set(asked.get() + 1);
        Err(Failure::Reset(0))
    }
    #[retry(attempts = 3, hedge = "20ms", base = "0s", budget = *budget)]
    async fn outer(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        inner(None).await?;
        let attempt = Attempt::current().unwrap();
        sleep(ms(if attempt.number() == 1 { 30 } else { 50 })).await;
        inner(Some(asked).filter(|_| !attempt.is_hedge())).await?;
        Err(Failure::Reset(0))
    }
    let asked = Cell::new(0);
    outer(&asked, &&Budget::new()).await.unwrap_err();
    assert_eq!(asked.get(), 2 + 1);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_knows_that_it_is_a_hedge() {
    #[retry(attempts = 3, hedge = "20ms", base = "0s", budget = *budget)]
    async fn call(seen: &RefCell<Vec<(u32, bool)>>, budget: &&Budget) -> Result<(), Failure> {
        let attempt = Attempt::current().unwrap();
        let key = attempt.idempotency_key();
        seen.borrow_mut()
            .push((attempt.number(), attempt.is_hedge()));
        sleep(ms(30)).await;
        assert_eq!(Attempt::current().unwrap().idempotency_key(), key);
        Err(Failure::Reset(attempt.number()))
    }
    let (seen, budget) = (RefCell::default(), Budget::new());
    call(&seen, &&budget).await.unwrap_err();
    assert_eq!(seen.take(), [(1, false), (2, true), (3, false)]);
}

/// Also while the other attempt runs, and in a task that carries the attempt.
#[tokio::test(start_paused = true)]
async fn each_of_two_attempts_has_its_own_number_wherever_it_is_asked_for() {
    fn number() -> (u32, bool) {
        let attempt = Attempt::current().expect("in an attempt");
        (attempt.number(), attempt.is_hedge())
    }
    #[retry(
        attempts = 3, hedge = "20ms", base = "0s", jitter = "none", budget = script.budget,
        retry_after = |_| { failed.borrow_mut().push(number()); None },
    )]
    async fn call(script: &Script, failed: &RefCell<Vec<(u32, bool)>>) -> Result<u32, Failure> {
        let mine = number();
        let carried = tokio::spawn(propagate(async {
            sleep(ms(25)).await;
            number()
        }));
        let played = script.play().await;
        assert_eq!(carried.await.expect("no panic"), mine);
        played
    }
    for (steps, expected) in [
        ([Fails(40), Fails(60), Succeeds(5)], [(1, false), (2, true)]),
        ([Fails(90), Fails(60), Succeeds(5)], [(2, true), (1, false)]),
    ] {
        let (script, failed) = (Script::new(steps), RefCell::default());
        call(&script, &failed).await.unwrap();
        assert_eq!(failed.take(), expected);
    }
}

/// Its retries could not be counted, so the hedges would add more to the load than their share.
#[tokio::test(start_paused = true)]
async fn a_call_with_unlimited_attempts_makes_one_attempt_inside_a_hedge() {
    #[retry(
        attempts = "unlimited",
        base = "10ms",
        jitter = "none",
        backoff = "constant"
    )]
    async fn inner(asked: &Cell<u32>) -> Result<(), Failure> {
        let attempt = Attempt::current().expect("in an attempt");
        assert_eq!((attempt.number(), attempt.attempts()), (1, Some(1)));
        asked.set(asked.get() + 1);
        Err(Failure::Reset(0))
    }
    #[retry(attempts = 2, hedge = "20ms", budget = *budget)]
    async fn outer(asked: &Cell<u32>, budget: &&Budget) -> Result<(), Failure> {
        let attempt = Attempt::current().expect("in an attempt");
        if attempt.is_hedge() {
            inner(asked).await
        } else {
            sleep(ms(200)).await;
            Ok(())
        }
    }
    let (asked, budget) = (Cell::new(0), Budget::new());
    outer(&asked, &&budget).await.unwrap();
    assert_eq!(asked.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn hooks_run_between_attempts_and_not_beside_one() {
    #[retry(
        attempts = 3, hedge = "20ms", base = "100ms", jitter = "none", budget = script.budget,
        on_retry = |event| told.borrow_mut().push(("on_retry", event.attempt(), script.now())),
        before_retry = async || { told.borrow_mut().push(("before_retry", 0, script.now())); Ok::<_, Failure>(()) },
        on_end = |report| told.borrow_mut().push(("on_end", report.attempts(), script.now())),
    )]
    async fn call(
        script: &Script,
        told: &RefCell<Vec<(&'static str, u32, u64)>>,
    ) -> Result<u32, Failure> {
        script.play().await
    }
    let (script, told) = (
        Script::new([Fails(40), Fails(60), Succeeds(5)]),
        RefCell::default(),
    );
    call(&script, &told).await.unwrap();
    assert_eq!(
        told.take(),
        [
            ("on_retry", 2, 80),
            ("before_retry", 0, 280),
            ("on_end", 3, 285)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_value_that_when_ok_refuses_is_set_aside_like_an_error() {
    plays! { call(attempts = 2, hedge = "20ms", when_ok = |number| *number == 1) }
    let script = Script::new([Succeeds(30), Succeeds(60)]);
    let (result, report, ended) = played(&script, call(&script)).await;
    assert_eq!((result.unwrap(), ended, report.hedge()), (2, 80, WON));
    assert_eq!(report.outcome(), Outcome::SuccessAfterRetry);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_not_ready_is_set_aside_and_both_are_not_ready_in_the_end() {
    #[retry(attempts = 2, hedge = "20ms", until = |number| *number > 2, budget = script.budget)]
    async fn call(script: &Script, add: u32) -> Result<u32, Failure> {
        Ok(script.play().await? + add)
    }
    let script = Script::new([Succeeds(30), Succeeds(60)]);
    let (result, report, ended) = played(&script, call(&script, 1)).await;
    assert_eq!((result.unwrap(), ended, report.hedge()), (3, 80, WON));

    let script = Script::new([Succeeds(30), Succeeds(60)]);
    let (result, report, ended) = played(&script, call(&script, 0)).await;
    let Err(Failure::Stopped(stopped)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(stopped.outcome(), Outcome::AttemptsExhausted);
    assert_eq!((ended, report.attempts(), report.hedge()), (80, 2, LOST));
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_either_attempt_ends_both() {
    for (panics, steps) in [
        (1, [Succeeds(50), Succeeds(90)]),
        (2, [Succeeds(90), Succeeds(30)]),
    ] {
        #[retry(attempts = 3, hedge = "20ms", budget = script.budget)]
        async fn call(script: &Script, panics: u32) -> Result<u32, Failure> {
            let number = Attempt::current().unwrap().number();
            let result = script.play().await;
            assert!(number != panics, "as planned");
            result
        }
        let script = std::rc::Rc::new(Script::new(steps));
        let (own, local) = (script.clone(), tokio::task::LocalSet::new());
        let ((), log) = scope()
            .run(local.run_until(async {
                let call = async move { call(&own, panics).await };
                let ended = tokio::task::spawn_local(propagate(call)).await;
                ended.unwrap_err();
            }))
            .await;
        assert_eq!(script.running.get(), 0);
        let report = log.calls()[0].report();
        assert_eq!((report.attempts(), report.outcome()), (2, Outcome::Dropped));
        assert_eq!(report.hedge(), LOST);
    }
}

#[tokio::test(start_paused = true)]
async fn the_log_of_a_test_scope_has_the_verdict_of_each_attempt() {
    let script = Script::new([Fails(40), Hangs, Succeeds(0)]);
    let (_, log) = scope().run(limited(&script)).await;
    let [call] = log.calls() else {
        panic!("one call")
    };
    assert_eq!(call.verdicts(), [Verdict::Transient; 2]);
    assert_eq!(call.report().hedge(), LOST);
}

#[tokio::test(start_paused = true)]
async fn a_test_scope_has_a_full_share_of_its_own() {
    for _ in 0..3 {
        let calls = async {
            let mut hedges = Vec::new();
            for _ in 0..10 {
                let script = Script::new([Succeeds(30), Succeeds(1)]);
                hedges.push(played(&script, limited(&script)).await.1.hedge());
            }
            hedges
        };
        let (hedges, _) = scope().run(calls).await;
        assert_eq!(hedges, [WON; 10]);
    }
}

#[test]
fn a_policy_shows_its_hedge() {
    let text = Policy::new()
        .with_timeout(ms(400))
        .with_hedge(ms(20))
        .to_string();
    assert!(
        text.starts_with("3 attempts, timeout 400ms, hedge 20ms, "),
        "{text}"
    );
    assert_eq!(Policy::new().hedge(), None);
}

#[tokio::test(start_paused = true)]
async fn hedge_may_be_computed_and_a_policy_may_say_it() {
    plays! { computed(attempts = 2, hedge = *after), after: &Duration }
    const SLOW: Policy = Policy::new().with_hedge(ms(50));
    plays! { of_policy(policy = SLOW, hedge = "policy") }
    let slow = || Script::new([Hangs, Succeeds(0)]);
    for (after, ends) in [
        (ms(70), 70),
        (Duration::ZERO, 1),
        (Duration::from_micros(3), 1),
    ] {
        let script = slow();
        let (_, report, ended) = played(&script, computed(&script, &after)).await;
        assert_eq!((ended, report.hedge()), (ends, WON));
    }
    let script = slow();
    let (_, report, ended) = played(&script, of_policy(&script)).await;
    assert_eq!((ended, report.hedge()), (50, WON));

    let script = Script::new([Succeeds(5000), Hangs]);
    let (_, report, ended) = played(&script, computed(&script, &Duration::MAX)).await;
    assert_eq!((ended, report.hedge()), (5000, None));
}

/// Each call gives its share once, when it asks for its first retry.
#[tokio::test(start_paused = true)]
async fn a_hedged_call_gives_its_share_to_a_budget_of_a_ratio_as_any_other() {
    plays! { plain(attempts = 3, base = "1ms") }
    let mut levels = Vec::new();
    for (hedged, steps) in [
        (false, &[Fails(1), Succeeds(1)][..]),
        (true, &[Fails(40), Fails(40), Succeeds(1)]),
        (true, &[Fails(40), Fails(40), Fails(1)]),
        (false, &[Fails(1), Fails(1), Fails(1)]),
    ] {
        let budget = Budget::ratio(1.0).with_capacity(10);
        let script = Script {
            budget,
            ..Script::new(steps.iter().copied())
        };
        for _ in 0..6 {
            let filling = async || Ok::<_, Stopped>(());
            let run = Policy::new().run(filling).when(|_| true);
            run.with_budget(&script.budget).unboxed().await.unwrap();
        }
        let before = script.budget.level();
        let (_, report, _) = if hedged {
            played(&script, unlimited(&script)).await
        } else {
            played(&script, plain(&script)).await
        };
        assert_eq!(report.hedge().is_some(), hedged);
        levels.push(script.budget.level() - before);
    }
    let [plain, hedged, hedged_in_vain, plain_in_vain] = levels[..] else {
        panic!()
    };
    assert!((plain - hedged).abs() < 0.01, "{levels:?}");
    // One retry in place of two.
    assert!(
        (hedged_in_vain - plain_in_vain - 1.0).abs() < 0.01,
        "{levels:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_has_no_attempt_before_it_also_if_its_hedge_failed() {
    #[retry(attempts = 3, hedge = "20ms")]
    async fn call(seen: &RefCell<Vec<(u32, bool)>>) -> Result<u32, Failure> {
        if Attempt::current().unwrap().is_hedge() {
            return Err(Failure::Reset(2));
        }
        sleep(ms(40)).await;
        let attempt = Attempt::current().unwrap();
        seen.borrow_mut()
            .push((attempt.number(), attempt.previous().is_none()));
        Ok(1)
    }
    let seen = RefCell::default();
    call(&seen).await.unwrap();
    assert_eq!(seen.take(), [(1, true)]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_inside_the_body_that_was_set_aside_ends_the_call_if_both_fail() {
    #[retry(attempts = 4, base = "1ms", budget = *budget)]
    async fn inner(budget: &&Budget, asked: &Cell<u32>) -> Result<u32, Failure> {
        asked.set(asked.get() + 1);
        Err(Failure::Reset(0))
    }
    #[retry(attempts = 4, base = "1ms", hedge = "20ms")]
    async fn outer(budget: &&Budget, asked: &Cell<u32>) -> Result<u32, Failure> {
        let after = if Attempt::current().unwrap().is_hedge() {
            20
        } else {
            30
        };
        sleep(ms(after)).await;
        inner(budget, asked).await
    }
    // No token, so each retry of `inner` is refused.
    let budget = Budget::new().with_capacity(1).with_refill(0.0);
    let asked = Cell::new(0);
    let (result, report) = with_report(outer(&&budget, &asked)).await;
    result.unwrap_err();
    let report = report.unwrap();
    assert_eq!(
        (report.outcome(), report.attempts(), asked.get()),
        (Outcome::Budget, 2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn on_retry_does_not_run_beside_an_attempt_after_the_signal() {
    struct Running<'r>(&'r Cell<u32>);
    impl Drop for Running<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    #[retry(
        attempts = 3, hedge = "20ms", base = "10s", jitter = "none", cancel_waits = sleep(ms(30)),
        on_retry = |_| told.borrow_mut().push(running.get()),
    )]
    async fn call(running: &Cell<u32>, told: &RefCell<Vec<u32>>) -> Result<u32, Failure> {
        running.set(running.get() + 1);
        let _running = Running(running);
        if Attempt::current().unwrap().is_hedge() {
            sleep(ms(40)).await;
            return Err(Failure::Reset(2));
        }
        pending().await
    }
    let (running, told) = (Cell::new(0), RefCell::default());
    let (result, report) = with_report(call(&running, &told)).await;
    result.unwrap_err();
    assert_eq!(report.unwrap().outcome(), Outcome::Cancelled);
    assert_eq!(told.take(), [0_u32; 0]);
}

/// The first fails first, and is set aside. Its delay is not drawn because the hedge has none.
#[tokio::test(start_paused = true)]
async fn the_delay_of_retry_after_is_exact_beside_a_hedge() {
    #[retry(hedge = "10ms", base = "1s", budget = &script.budget,
        retry_after = |error| matches!(error, Failure::Reset(1)).then_some(ms(1_000)))]
    async fn call(script: &Script) -> Result<u32, Failure> {
        script.play().await
    }
    for _ in 0..5 {
        let script = Script::new([Fails(30), Fails(40), Succeeds(0)]);
        played(&script, call(&script)).await.0.unwrap();
        assert_eq!(*script.times.borrow(), [0, 10, 1_050]);
    }
}
