//! Settings that are expressions over the arguments and `self`. A call evaluates each once, when it begins.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::{
    Backoff, Budget, Budgets, Jitter, Outcome, Policy, Report, WithoutLimits, retry, with_report,
};

use crate::script::{RESET, Script, Step, ending, ms, times_of};

/// The settings that a service reads from its configuration.
struct Config {
    attempts: u32,
    timeout: Duration,
    deadline: Duration,
    base: Duration,
    max_delay: Duration,
    factor: f64,
    backoff: Backoff,
    jitter: Jitter,
    delays: Vec<Duration>,
    policy: Arc<Policy>,
    budget: Option<Arc<Budget>>,
    idempotent: bool,
    reads: AtomicU32,
}

impl Config {
    fn new() -> Self {
        Self {
            attempts: 4,
            timeout: ms(50),
            deadline: ms(1000),
            base: ms(10),
            max_delay: ms(25),
            factor: 3.0,
            backoff: Backoff::Exponential,
            jitter: Jitter::None,
            delays: vec![ms(0), ms(70), ms(5)],
            policy: Arc::new(Policy::new().with_attempts(2).with_deadline(ms(500))),
            budget: None,
            idempotent: true,
            reads: AtomicU32::new(0),
        }
    }

    fn read<T>(&self, value: T) -> T {
        self.reads.fetch_add(1, Relaxed);
        value
    }

    #[retry(
        attempts = self.read(self.attempts),
        deadline = self.read(self.deadline),
        backoff = self.read(self.backoff),
        base = self.read(self.base),
        max_delay = self.read(self.max_delay),
        factor = self.read(self.factor),
        jitter = self.read(self.jitter),
        timeout = self.read(self.timeout),
        max_retry_after = self.read(Duration::ZERO),
        budget = self.read(&self.budget),
        idempotent = self.read(self.idempotent),
    )]
    async fn each_key(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(delays = self.read(&self.delays), budget = "none")]
    async fn delayed(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(policy = self.read(self.policy.clone()))]
    async fn by_policy(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }
}

#[tokio::test(start_paused = true)]
async fn each_setting_of_self_is_evaluated_once() {
    let config = Config::new();
    let script = Script::new([RESET]);
    assert!(config.each_key(&script).await.is_err());
    assert_eq!(script.times(), [ms(0), ms(10), ms(35), ms(60)]);
    assert_eq!(config.reads.load(Relaxed), 11, "one for each key above");

    let script = Script::new([Step::Hang, Step::Succeed]);
    assert_eq!(config.each_key(&script).await.unwrap(), 2);
    assert_eq!(script.times(), [ms(0), ms(60)]);
}

#[retry(
    attempts = { let more = attempts; more + 1 },
    deadline = limits.1,
    backoff = backoff,
    base = base,
    max_delay = base * 3,
    factor = factor,
    jitter = jitter,
    timeout = limits.0
)]
async fn from_arguments(
    script: &Script,
    attempts: u32,
    limits: (Duration, Duration),
    (backoff, jitter): (Backoff, Jitter),
    base: Duration,
    factor: f64,
) -> io::Result<usize> {
    script.play().await
}

#[tokio::test(start_paused = true)]
async fn each_setting_may_name_an_argument() {
    let script = Script::new([RESET]);
    let shape = (Backoff::Linear, Jitter::None);
    let limits = (ms(10), ms(1000));
    let result = from_arguments(&script, 3, limits, shape, ms(10), 2.0).await;
    assert!(result.is_err());
    assert_eq!(script.times(), [ms(0), ms(10), ms(30), ms(60)]);
}

plays!(times(attempts = attempts), attempts: u32);

#[tokio::test(start_paused = true)]
async fn a_call_replaces_values_that_are_out_of_range() {
    let shape = (Backoff::Exponential, Jitter::None);
    let limits = (ms(10), ms(1000));
    // A factor of NaN counts as 1.
    let script = Script::new([RESET]);
    let _ = from_arguments(&script, 2, limits, shape, ms(10), f64::NAN).await;
    assert_eq!(script.times(), [ms(0), ms(10), ms(20)]);

    assert_eq!(
        times_of(async |script| times(script, 0).await).await.len(),
        1
    );
}

plays!(literal(delays = ["0s", "200ms", "1.5s"]));

const LATER: Duration = ms(30);

plays! { repeated(delays(LATER, Duration::from_millis(20)), attempts = 5) }

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_delays_as_listed() {
    assert_eq!(times_of(literal).await, [ms(0), ms(0), ms(200), ms(1700)]);

    assert_eq!(
        times_of(repeated).await,
        [ms(0), ms(30), ms(50), ms(70), ms(90)]
    );

    let config = Config::new();
    let script = Script::new([RESET]);
    assert!(config.delayed(&script).await.is_err());
    assert_eq!(script.times(), [ms(0), ms(0), ms(70), ms(75)]);
    assert_eq!(config.reads.load(Relaxed), 1);
}

plays!(alone(delays = delays), delays: &[Duration]);

plays! { mixed(attempts = 4, delays = [first, "5ms"], timeout = timeout), first: Duration, timeout: Duration }

plays!(beside_a_policy(policy = policy, delays = &delays), policy: Policy, delays: [Duration; 3]);

#[tokio::test(start_paused = true)]
async fn delays_of_the_call_set_the_attempts_unless_the_attribute_does() {
    assert_eq!(
        times_of(async |script| alone(script, &[]).await)
            .await
            .len(),
        1
    );
    let script = Script::new([RESET]);
    assert!(alone(&script, &[ms(0)]).await.is_err());
    assert_eq!(script.times(), [ms(0), ms(0)]);

    let script = Script::new([RESET]);
    assert!(mixed(&script, ms(40), ms(10)).await.is_err());
    assert_eq!(script.times(), [ms(0), ms(40), ms(45), ms(50)]);

    // The delays replace the schedule of the policy. Its other settings stay.
    let script = Script::new([RESET]);
    let policy = Policy::new().with_attempts(9).with_deadline(ms(100));
    let error = beside_a_policy(&script, policy, [ms(30), ms(40), ms(50)]).await;
    assert!(error.is_err());
    assert_eq!(script.times(), [ms(0), ms(30), ms(70)]);
}

plays! { drawn(delays = ["10s"], attempts = attempts, jitter = jitter), attempts: u32, jitter: Jitter }

#[tokio::test(start_paused = true)]
async fn with_jitter_the_delays_are_ceilings() {
    let script = Script::new([RESET]);
    assert!(drawn(&script, 20, Jitter::Full).await.is_err());
    assert_eq!(script.calls(), 20);
    assert!(script.elapsed() < ms(190_000));
}

plays!(by_reference(policy = policy, attempts = 3), policy: &Policy);

#[derive(Debug)]
struct Plain;

#[retry(policy = Policy::new().with_attempts(2).with_jitter(Jitter::None), when = |_| true)]
async fn constant(calls: &AtomicU32) -> Result<(), Plain> {
    calls.fetch_add(1, Relaxed);
    Err(Plain)
}

#[tokio::test(start_paused = true)]
async fn a_policy_may_come_from_anywhere() {
    let config = Config::new();
    assert_eq!(
        times_of(async |script| config.by_policy(script).await)
            .await
            .len(),
        2
    );
    assert_eq!(config.reads.load(Relaxed), 1);
    let script = Script::new([Step::Hang]);
    let error = config.by_policy(&script).await.unwrap_err();
    assert_eq!(ending(&error).0, Outcome::Deadline);

    assert_eq!(
        times_of(async |script| by_reference(script, &config.policy).await)
            .await
            .len(),
        3
    );

    // This policy is known at compile time, so that the error type need not hold a `Stopped`.
    let calls = AtomicU32::new(0);
    constant(&calls).await.unwrap_err();
    assert_eq!(calls.load(Relaxed), 2);
}

plays!(optional(budget = budget, base = "1ms"), budget: Option<&Budget>);

plays!(counted(budget = budget, base = "1ms"), budget: Rc<Budget>);

plays!(of_host(budget = budgets.get(host), base = "1ms"), budgets: &[Budget], host: usize);

#[tokio::test(start_paused = true)]
async fn a_budget_may_come_from_anywhere() {
    let empty = Budget::ratio(0.0);
    let script = Script::new([RESET]);
    while script.calls() < 10_000 {
        let before = script.calls();
        assert!(optional(&script, Some(&empty)).await.is_err());
        if script.calls() == before + 1 {
            break;
        }
    }
    let refused = |result: (io::Result<usize>, Option<Report>)| {
        result
            .1
            .is_some_and(|report| report.outcome() == Outcome::Budget)
    };
    assert!(refused(with_report(optional(&script, Some(&empty))).await));
    assert!(!refused(with_report(optional(&script, None)).await));
    assert!(!refused(
        with_report(counted(&script, Rc::new(Budget::new()))).await
    ));
    let budgets = [Budget::new(), empty];
    assert!(!refused(with_report(of_host(&script, &budgets, 0)).await));
    assert!(refused(with_report(of_host(&script, &budgets, 1)).await));
}

plays!(send(idempotent = method == "GET", on = io::Error), method: &str);

#[tokio::test(start_paused = true)]
async fn whether_an_attempt_may_run_twice_may_depend_on_the_arguments() {
    let script = Script::new([RESET]);
    assert!(send(&script, "POST").await.is_err());
    assert_eq!(script.calls(), 1);
    assert!(send(&script, "GET").await.is_err());
    assert_eq!(script.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_down_leaves_the_budget_of_the_others() {
    static HOSTS: Budgets<String> = Budgets::new(Budget::aws());
    plays!(get(attempts = 2, base = "1ms", on = "io::Error", budget = HOSTS.of(host)), host: &str);
    let down = Script::new([RESET]);
    for _ in 0..100 {
        get(&down, "a.example").await.unwrap_err();
    }
    assert_eq!(down.calls(), 135, "35 retries, and then none");
    let flaky = Script::new([RESET, Step::Succeed]);
    assert_eq!(get(&flaky, "b.example").await.unwrap(), 2);
    assert!(HOSTS.of("a.example").level() < 14.0);
}

/// An error type that cannot hold a `Stopped`.
#[derive(Debug, PartialEq)]
struct Foreign(usize);

impl Foreign {
    async fn of(script: &Script) -> Result<usize, Self> {
        script.play().await.map_err(|_| Self(script.calls()))
    }
}

struct WithoutLimitsOf {
    policy: Arc<Policy>,
    bare: WithoutLimits,
}

impl WithoutLimitsOf {
    #[retry(policy = self.policy.without_limits(), when = |_| true)]
    async fn by_call(&self, script: &Script) -> Result<usize, Foreign> {
        Foreign::of(script).await
    }

    #[retry(policy = self.bare, attempts = 3, when = |_| true, on_retry = |event| assert!(event.error().is_some()))]
    async fn by_field(&self, script: &Script) -> Result<usize, Foreign> {
        Foreign::of(script).await
    }

    #[retry(policy = &&self.bare, deadline = "1s", base = "50ms")]
    async fn with_a_limit_of_its_own(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(blocking, policy = Box::new(self.bare.clone()), when = |_| true, base = "0s")]
    fn blocking(&self, calls: &Mutex<usize>) -> Result<usize, Foreign> {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        Err(Foreign(*calls))
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_without_limits_needs_no_stopped_in_the_error_type() {
    let policy = Policy::new()
        .with_attempts(2)
        .with_base(ms(100))
        .with_jitter(Jitter::None);
    let limited = policy.with_timeout(ms(10)).with_deadline(ms(20));
    let client = WithoutLimitsOf {
        policy: Arc::new(limited.clone()),
        bare: limited.without_limits(),
    };
    let slow = || Script::new([Step::FailAfter(ms(50))]);
    let script = slow();
    assert_eq!(client.by_call(&script).await, Err(Foreign(2)));
    assert_eq!(script.times(), [ms(0), ms(150)], "no limit cut the attempt");
    let script = slow();
    assert_eq!(client.by_field(&script).await, Err(Foreign(3)));
    assert_eq!(script.times(), [ms(0), ms(150), ms(400)]);
    assert_eq!(client.blocking(&Mutex::new(0)), Err(Foreign(2)));

    let script = Script::new([Step::FailAfter(ms(10)), Step::Hang]);
    let error = client.with_a_limit_of_its_own(&script).await.unwrap_err();
    assert_eq!(ending(&error).0, Outcome::Deadline);
    assert_eq!(script.times(), [ms(0), ms(60)]);
}

/// A name of one letter is a constant, unless it can be a number that the function or its `impl` is generic over, or an
/// argument.
mod letters {
    use super::*;

    const P: Policy = Policy::new()
        .with_attempts(2)
        .with_jitter(Jitter::None)
        .without_budget();
    const D: Duration = ms(50);
    static B: Budget = Budget::new();

    /// With a policy that is evaluated by each call, this error type would have to hold a `Stopped`.
    #[retry(policy = P, base = D, budget = B, when = |_| true)]
    async fn constants(script: &Script) -> Result<usize, Foreign> {
        Foreign::of(script).await
    }

    struct Times<const N: u32>;

    impl<const N: u32> Times<N> {
        #[retry(policy = P, attempts = N, when = |_| true)]
        async fn of_impl(&self, script: &Script) -> Result<usize, Foreign> {
            Foreign::of(script).await
        }
    }

    #[retry(policy = P, attempts = N, when = |_| true)]
    async fn of_function<const N: u32>(script: &Script) -> Result<usize, Foreign> {
        Foreign::of(script).await
    }

    #[allow(non_snake_case, reason = "that is the case")]
    #[retry(attempts = 2, base = W, jitter = "none", when = |_| true)]
    async fn argument(W: Duration, script: &Script) -> Result<usize, Foreign> {
        Foreign::of(script).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_constant_may_have_a_name_of_one_letter() {
        let script = Script::new([RESET]);
        assert_eq!(constants(&script).await, Err(Foreign(2)));
        assert_eq!(script.times(), [ms(0), ms(50)]);
        assert!(B.level() < 200.0);
        let script = Script::new([RESET]);
        assert_eq!(Times::<4>.of_impl(&script).await, Err(Foreign(4)));
        let script = Script::new([RESET]);
        assert_eq!(of_function::<3>(&script).await, Err(Foreign(3)));
        let script = Script::new([RESET]);
        assert_eq!(argument(ms(70), &script).await, Err(Foreign(2)));
        assert_eq!(script.times(), [ms(0), ms(70)]);
    }
}
