//! Hints: the delays that servers ask for.

use std::cell::RefCell;
use std::fmt::Display;
use std::time::Duration;

use reattempt::{Jitter, Outcome, Policy, Report, Retryable, Stopped, retry, with_report};
use tokio::time::Instant;

use crate::script::ms;

/// The error of a busy server, perhaps with a hint.
#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("busy")]
    #[retryable(throttled, after = "wait")]
    Busy { wait: Option<Duration> },
    #[error("forbidden")]
    #[retryable(permanent, after = "wait")]
    Forbidden { wait: Duration },
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

trait TakeFirstWait {
    /// The wait before the second request, which is then forgotten.
    fn take_first_wait(&self) -> Option<Duration>;
}

impl TakeFirstWait for RefCell<Busy> {
    fn take_first_wait(&self) -> Option<Duration> {
        let mut server = self.borrow_mut();
        let wait = server.first_wait();
        server.asked.clear();
        wait
    }
}

/// A server that stays busy, and records the time of each request.
struct Busy {
    wait: Option<Duration>,
    began: Instant,
    asked: Vec<Duration>,
}

impl Busy {
    fn new(wait: impl Into<Option<Duration>>) -> Self {
        Self {
            wait: wait.into(),
            began: Instant::now(),
            asked: Vec::new(),
        }
    }

    fn ask(&mut self) -> Result<(), Failure> {
        self.asked.push(self.began.elapsed());
        Err(Failure::Busy { wait: self.wait })
    }

    fn refuse(&mut self, wait: Duration) -> Result<(), Failure> {
        self.asked.push(self.began.elapsed());
        Err(Failure::Forbidden { wait })
    }

    /// The wait before the second request. `None` if there was no second request.
    fn first_wait(&self) -> Option<Duration> {
        let [first, second, ..] = self.asked[..] else {
            return None;
        };
        second.checked_sub(first)
    }
}

/// A function that asks the server once in each attempt.
macro_rules! asks {
    ($name:ident($($keys:tt)*) $(, $argument:ident: $of:ty)*) => {
        #[retry($($keys)*)]
        async fn $name(server: &mut Busy, $($argument: $of),*) -> Result<(), Failure> {
            server.ask()
        }
    };
}

asks! { plain(attempts = 3, base = "100ms", throttled_base = "100ms", jitter = "none", budget = "none") }

asks! { full(attempts = 2, base = "100ms", budget = "none") }

#[tokio::test(start_paused = true)]
async fn a_hint_is_a_lower_bound() {
    let own = [ms(0), ms(100), ms(300)];
    for (hint, asked) in [
        (None, own),
        (Some(ms(0)), own),
        (Some(ms(50)), own),
        (Some(ms(150)), [ms(0), ms(150), ms(350)]),
        (Some(ms(1000)), [ms(0), ms(1000), ms(2000)]),
    ] {
        let mut server = Busy::new(hint);
        plain(&mut server).await.unwrap_err();
        assert_eq!(server.asked, asked, "{hint:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_jittered_upwards_and_never_downwards() {
    // Each tenth of the 100 ms of jitter above the hint. Timers round up to the next millisecond.
    let mut tenths = [0_u32; 11];
    for _ in 0..2000 {
        let mut server = Busy::new(ms(1000));
        full(&mut server).await.unwrap_err();
        let wait = server.first_wait().unwrap();
        assert!((ms(1000)..=ms(1101)).contains(&wait), "{wait:?}");
        let tenth = wait.saturating_sub(ms(1000)).as_millis() / 10;
        tenths[usize::try_from(tenth).unwrap()] += 1;
    }
    // Clients with the same hint do not come back at the same instant: no tenth has twice its share.
    let peak = tenths.iter().max().unwrap();
    assert!(*peak < 400, "{tenths:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hint_within_the_range_of_the_jitter_is_a_lower_bound_too() {
    for _ in 0..200 {
        // Without the hint, the draw is from 0 to 100 ms. With it, it is from 60 to 100 ms.
        let mut server = Busy::new(ms(60));
        full(&mut server).await.unwrap_err();
        let wait = server.first_wait().unwrap();
        assert!((ms(60)..=ms(101)).contains(&wait), "{wait:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_above_max_retry_after_ends_the_call() {
    const TWO_SECONDS: Policy = Policy::new()
        .with_attempts(2)
        .with_max_retry_after(Duration::from_secs(2));
    asks! { bounded(policy = TWO_SECONDS, budget = "none") }
    for _ in 0..50 {
        // The jitter comes on top: the range of the first delay, 100 ms.
        for hint in [ms(1950), ms(2000)] {
            let mut server = Busy::new(hint);
            bounded(&mut server).await.unwrap_err();
            let wait = server.first_wait().unwrap();
            assert!((hint..=hint + ms(101)).contains(&wait), "{wait:?}");
        }
    }
    for hint in [
        ms(2000) + Duration::from_nanos(1),
        Duration::from_secs(1_000_000_000_000_000_000),
        Duration::MAX,
    ] {
        let mut server = Busy::new(hint);
        let error = bounded(&mut server).await.unwrap_err();
        assert!(matches!(error, Failure::Busy { .. }), "{error:?}");
        assert_eq!((server.asked.len(), server.began.elapsed()), (1, ms(0)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_may_be_longer_than_max_delay_and_than_the_worst_case_without_hints() {
    const SHORT: Policy = Policy::new()
        .with_attempts(2)
        .with_timeout(Duration::from_secs(1))
        .with_max_delay(Duration::from_millis(200));
    asks! { call(policy = SHORT, budget = "none") }
    assert_eq!(SHORT.worst_case(), Some(ms(2200)));
    let mut server = Busy::new(ms(30_000));
    call(&mut server).await.unwrap_err();
    assert!(server.first_wait() >= Some(ms(30_000)));
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_does_not_fit_the_deadline_ends_the_call() {
    asks! { limited(attempts = 2, base = "500ms", max_delay = "500ms", deadline = "1s", budget = "none") }
    // 50 ms have to remain for the attempt.
    for hint in [ms(951), ms(1000), ms(1001), ms(60_000)] {
        let mut server = Busy::new(hint);
        let error = limited(&mut server).await.unwrap_err();
        assert!(matches!(error, Failure::Busy { .. }), "{error:?}");
        assert_eq!((server.asked.len(), server.began.elapsed()), (1, ms(0)));
    }
    for _ in 0..100 {
        // The call cuts the jitter above the hint to the time that is left.
        let mut server = Busy::new(ms(900));
        let error = limited(&mut server).await.unwrap_err();
        assert!(matches!(error, Failure::Busy { .. }), "{error:?}");
        let wait = server.first_wait().unwrap();
        assert!((ms(900)..=ms(951)).contains(&wait), "{wait:?}");
    }
}

/// As a literal, as an expression, and without the key, where a minute is the longest hint.
#[tokio::test(start_paused = true)]
async fn the_key_max_retry_after_sets_the_longest_hint() {
    asks! { literal(attempts = 2, max_retry_after = "2s", base = "0ms", jitter = "none", budget = "none") }
    #[retry(attempts = 2, max_retry_after = longest, base = "0ms", jitter = "none", budget = "none")]
    async fn expression(server: &mut Busy, longest: Duration) -> Result<(), Failure> {
        server.ask()
    }
    asks! { without(attempts = 2, base = "0ms", jitter = "none", budget = "none") }
    for longest in [ms(2_000), ms(90_000)] {
        for (hint, follows) in [(longest, true), (longest + ms(1), false)] {
            let mut server = Busy::new(hint);
            let call = with_report(expression(&mut server, longest)).await;
            assert_hint(call, &server, hint, follows);
            if longest == ms(2_000) {
                let mut server = Busy::new(hint);
                let call = with_report(literal(&mut server)).await;
                assert_hint(call, &server, hint, follows);
            }
        }
    }
    for (hint, follows) in [(ms(60_000), true), (ms(60_001), false)] {
        let mut server = Busy::new(hint);
        let call = with_report(without(&mut server)).await;
        assert_hint(call, &server, hint, follows);
    }
}

/// The call waited as long as the hint says, or ended at once because the hint was too long.
fn assert_hint(
    (result, report): (Result<(), Failure>, Option<Report>),
    server: &Busy,
    hint: Duration,
    follows: bool,
) {
    result.unwrap_err();
    let outcome = report.unwrap().outcome();
    if follows {
        let wait = server.first_wait().expect("a second request");
        assert!(
            (hint..=hint + ms(1)).contains(&wait),
            "{wait:?} of {hint:?}"
        );
        assert_eq!(outcome, Outcome::AttemptsExhausted);
    } else {
        assert_eq!(server.first_wait(), None, "{hint:?}");
        assert_eq!(outcome, Outcome::HintTooLong, "{hint:?}");
    }
}

/// `max_retry_after` bounds what a hint adds. A delay of the policy may be longer.
#[tokio::test(start_paused = true)]
async fn max_retry_after_shortens_no_delay_of_the_policy() {
    const SPREAD: Policy = Policy::new()
        .with_attempts(2)
        .with_base(Duration::from_secs(10))
        .with_max_retry_after(Duration::from_secs(2));
    asks! { call(policy = SPREAD, budget = "none") }
    let mut longest = Duration::ZERO;
    for _ in 0..100 {
        let mut server = Busy::new(ms(1000));
        call(&mut server).await.unwrap_err();
        let wait = server.first_wait().unwrap();
        assert!((ms(1000)..=ms(10_001)).contains(&wait), "{wait:?}");
        longest = longest.max(wait);
    }
    // Eight draws in nine are above 2 s.
    assert!(longest > ms(2001), "{longest:?}");
}

/// The call cuts the jitter to nothing here, so that the attempt has 50 ms.
#[tokio::test(start_paused = true)]
async fn no_delay_is_drawn_that_leaves_no_time_for_the_attempt() {
    const SECOND: Duration = Duration::from_secs(1);
    #[retry(
        deadline = SECOND,
        budget = "none",
        on_retry = |event| delays.borrow_mut().push(event.delay())
    )]
    async fn call(server: &mut Busy, delays: &RefCell<Vec<Duration>>) -> Result<(), Failure> {
        server.ask()
    }
    let (delays, longest) = (RefCell::default(), ms(950));
    for _ in 0..50 {
        call(&mut Busy::new(longest), &delays).await.unwrap_err();
    }
    assert_eq!(delays.take(), [longest; 50]);
    let longer = longest + Duration::from_nanos(1);
    call(&mut Busy::new(longer), &delays).await.unwrap_err();
    assert_eq!(delays.take(), []);
}

const TWICE: Policy = Policy::new()
    .with_attempts(2)
    .with_jitter(Jitter::None)
    .without_budget();

#[tokio::test(start_paused = true)]
async fn a_hint_counts_whichever_rule_allows_the_retry() {
    asks! { when(policy = TWICE, when = |_| true) }
    asks! { on(policy = TWICE, on = "Failure") }
    let mut servers = [ms(700); 2].map(Busy::new);
    when(&mut servers[0]).await.unwrap_err();
    on(&mut servers[1]).await.unwrap_err();
    assert_eq!(
        servers.map(|server| server.first_wait()),
        [Some(ms(700)); 2]
    );
}

/// A rule may know better than the verdict, as for GitHub's status 403 with `Retry-After`.
#[tokio::test(start_paused = true)]
async fn a_rule_that_retries_a_permanent_error_follows_its_hint() {
    #[retry(policy = TWICE, when = |error| matches!(error, Failure::Forbidden { .. }))]
    async fn when(server: &mut Busy, wait: Duration) -> Result<(), Failure> {
        server.refuse(wait)
    }
    #[retry(policy = TWICE)]
    async fn by_verdict(server: &mut Busy, wait: Duration) -> Result<(), Failure> {
        server.refuse(wait)
    }
    for (hint, follows) in [(ms(7_000), true), (ms(60_001), false)] {
        let mut server = Busy::new(None);
        let call = with_report(when(&mut server, hint)).await;
        assert_hint(call, &server, hint, follows);
    }
    // Without such a rule, a hint makes it no error to retry.
    let mut server = Busy::new(None);
    let (result, report) = with_report(by_verdict(&mut server, ms(1))).await;
    result.unwrap_err();
    assert_eq!(server.first_wait(), None);
    assert_eq!(report.unwrap().outcome(), Outcome::NotRetryable);
}

/// On a function, on a generic one, and on a closure.
#[tokio::test(start_paused = true)]
async fn the_rule_when_follows_a_hint_wherever_it_stands() {
    asks! { function(policy = TWICE, when = |_| true) }
    #[retry(policy = TWICE, when = |_| true)]
    async fn generic<E: Retryable + From<Failure> + From<Stopped>>(
        server: &mut Busy,
    ) -> Result<(), E> {
        Ok(server.ask()?)
    }
    async fn generic_run<E: Retryable + Display + From<Failure> + From<Stopped> + 'static>(
        server: &RefCell<Busy>,
    ) -> Result<(), E> {
        let run = TWICE.run(async || Ok::<_, E>(server.borrow_mut().ask()?));
        run.when(|_| true).unboxed().await
    }
    let hint = ms(7_000);
    let mut server = Busy::new(hint);
    function(&mut server).await.unwrap_err();
    assert_eq!(server.first_wait(), Some(hint), "function");
    let mut server = Busy::new(hint);
    generic::<Failure>(&mut server).await.unwrap_err();
    assert_eq!(server.first_wait(), Some(hint), "generic function");

    let server = RefCell::new(Busy::new(hint));
    let run = TWICE.run(async || server.borrow_mut().ask());
    run.when(|_| true).unboxed().await.unwrap_err();
    assert_eq!(server.take_first_wait(), Some(hint), "run");
    generic_run::<Failure>(&server).await.unwrap_err();
    assert_eq!(server.take_first_wait(), Some(hint), "generic run");
    let run = TWICE
        .without_limits()
        .run(async || server.borrow_mut().ask());
    let run = run
        .when(|_| true)
        .when(|error| matches!(error, Failure::Busy { .. }));
    run.unboxed().await.unwrap_err();
    assert_eq!(server.take_first_wait(), Some(hint), "run with two rules");
}

/// Nobody can know the hint of a type parameter without the bound.
#[tokio::test(start_paused = true)]
async fn the_rule_when_finds_no_hint_in_a_type_that_is_not_known_to_have_one() {
    async fn run<E: Display + From<Failure> + From<Stopped> + 'static>(
        server: &RefCell<Busy>,
    ) -> Result<(), E> {
        let run = TWICE.run(async || Ok::<_, E>(server.borrow_mut().ask()?));
        run.verdict(|_| reattempt::Verdict::Unknown)
            .when(|_| true)
            .unboxed()
            .await
    }
    let server = RefCell::new(Busy::new(ms(7_000)));
    run::<Failure>(&server).await.unwrap_err();
    assert_eq!(server.take_first_wait(), Some(ms(100)));
}

/// A response of a server that gives `Ok` for each status.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Response {
    status: u16,
    retry_after: Option<Duration>,
}

/// A server with these responses, the last one forever. It records the time of each request.
struct Responses {
    left: Vec<Response>,
    asked: Vec<Instant>,
}

impl Responses {
    fn new<const N: usize>(mut responses: [(u16, Option<Duration>); N]) -> Self {
        responses.reverse();
        let left = responses.map(|(status, retry_after)| Response {
            status,
            retry_after,
        });
        Self {
            left: left.into(),
            asked: Vec::new(),
        }
    }

    fn ask(&mut self) -> Response {
        self.asked.push(Instant::now());
        let last = self.left.len() == 1;
        if last {
            self.left[0]
        } else {
            self.left.pop().unwrap()
        }
    }

    fn waits(&self) -> Vec<Duration> {
        let pairs = self.asked.windows(2);
        pairs.map(|pair| pair[1] - pair[0]).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_runs_is_asked_again_when_its_202_says() {
    #[retry(attempts = 5, jitter = "none", until = |reply| (reply.status != 202, reply.retry_after))]
    async fn job(server: &mut Responses) -> Result<Response, Failure> {
        Ok(server.ask())
    }
    const JOB: [(u16, Option<Duration>); 3] =
        [(202, Some(ms(2000))), (202, None), (200, Some(ms(9000)))];
    let mut server = Responses::new(JOB);
    assert_eq!(job(&mut server).await.unwrap().status, 200);
    assert_eq!(server.waits(), [ms(2000), ms(200)]);

    let server = RefCell::new(Responses::new(JOB));
    let policy = Policy::new().with_attempts(5).with_jitter(Jitter::None);
    let run = policy.run(async || Ok::<_, Failure>(server.borrow_mut().ask()));
    let run = run.until(|reply| (reply.status != 202, reply.retry_after));
    assert_eq!(run.unboxed().await.unwrap().status, 200);
    assert_eq!(server.into_inner().waits(), [ms(2000), ms(200)]);
}

#[tokio::test(start_paused = true)]
async fn the_last_response_is_returned_after_the_waits_that_it_asked_for() {
    #[retry(jitter = "none", when_ok = |reply| (reply.status == 503, reply.retry_after))]
    async fn fetch(server: &mut Responses) -> Result<Response, Failure> {
        Ok(server.ask())
    }
    const BUSY: (u16, Option<Duration>) = (503, Some(ms(7000)));
    let mut server = Responses::new([BUSY]);
    let reply = fetch(&mut server).await.unwrap();
    assert_eq!((reply.status, reply.retry_after), BUSY);
    assert_eq!(server.waits(), [ms(7000); 2]);

    let server = RefCell::new(Responses::new([BUSY]));
    let run = Policy::new().with_jitter(Jitter::None).without_limits();
    let run = run.run(async || Ok::<_, Failure>(server.borrow_mut().ask()));
    let run = run.when_ok(|reply| (reply.status == 503, reply.retry_after));
    assert_eq!(run.unboxed().await.unwrap().status, 503);
    assert_eq!(server.into_inner().waits(), [ms(7000); 2]);
}

#[tokio::test(start_paused = true)]
async fn an_ok_that_asks_for_too_long_a_delay_ends_the_call() {
    #[retry(deadline = "30s", when_ok = |reply| (reply.status == 503, reply.retry_after))]
    async fn fetch(server: &mut Responses) -> Result<Response, Failure> {
        Ok(server.ask())
    }
    for (wait, outcome) in [(60_001, Outcome::HintTooLong), (40_000, Outcome::Deadline)] {
        let mut server = Responses::new([(503, Some(ms(wait)))]);
        let (reply, report) = with_report(fetch(&mut server)).await;
        assert_eq!(reply.unwrap().status, 503);
        assert_eq!(report.unwrap().outcome(), outcome);
        assert_eq!(server.asked.len(), 1);
    }
}
