//! How many attempts a call makes, and how long it waits between them.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Backoff, Jitter, Policy, Retryable, retry};
use tokio::time::{Instant, timeout};

use crate::script::{RESET, Script, Step, ms, times_of};

plays!(four(attempts = 4, jitter = "none"));

#[tokio::test(start_paused = true)]
async fn attempts_counts_the_first_call() {
    let script = Script::new([RESET]);
    let error = four(&script).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "call 4",
        "the caller gets the last real error, unchanged"
    );
    assert_eq!(script.times(), [ms(0), ms(100), ms(300), ms(700)]);
}

#[tokio::test(start_paused = true)]
async fn success_ends_the_call() {
    let script = Script::new([RESET, RESET, Step::Succeed]);
    assert_eq!(four(&script).await.unwrap(), 3);
    assert_eq!(script.elapsed(), ms(300));
}

#[tokio::test(start_paused = true)]
async fn one_attempt_never_waits() {
    plays!(once(attempts = 1));
    let script = Script::new([RESET]);
    once(&script).await.unwrap_err();
    assert_eq!((script.calls(), script.elapsed()), (1, ms(0)));
}

#[tokio::test(start_paused = true)]
async fn the_attribute_alone_makes_three_attempts() {
    plays!(alone);
    assert_eq!(times_of(alone).await.len(), 3);
}

/// A literal above the default of `max_delay` is a compile error. Nobody sees that of an expression, so it is not cut.
#[tokio::test(start_paused = true)]
async fn a_base_that_is_computed_is_not_cut_at_the_default_of_max_delay() {
    const MINUTE: Duration = Duration::from_secs(60);
    #[retry(attempts = 3, base = base, jitter = "none")]
    async fn call(base: Duration, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    plays!(constant(attempts = 3, base = MINUTE, jitter = "none"));
    #[retry(attempts = 3, min_delay = shortest)]
    async fn shortest(shortest: Duration, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    #[retry(attempts = 3, base = base, max_delay = "30s", jitter = "none")]
    async fn bounded(base: Duration, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let minutes = [ms(0), MINUTE, 2 * MINUTE];
    assert_eq!(
        times_of(async |script| call(MINUTE, script).await).await,
        minutes
    );
    let script = Script::new([RESET]);
    constant(&script).await.unwrap_err();
    assert_eq!(script.times(), minutes);
    assert_eq!(
        times_of(async |script| shortest(MINUTE, script).await).await,
        minutes
    );
    let script = Script::new([RESET]);
    bounded(MINUTE, &script).await.unwrap_err();
    assert_eq!(script.times(), [ms(0), MINUTE / 2, MINUTE]);
    // A shorter one leaves the default as it is.
    let script = Script::new([RESET]);
    call(Duration::from_secs(15), &script).await.unwrap_err();
    assert_eq!(script.times(), [ms(0), ms(15_000), ms(35_000)]);
}

#[tokio::test(start_paused = true)]
async fn unlimited_attempts_end_at_the_deadline() {
    plays! {
        for_ever(attempts = "unlimited", base = "1s", backoff = "constant", jitter = "none", deadline = "60s",
            budget = "none")
    }
    let script = Script::new([RESET]);
    let ended = timeout(Duration::from_secs(600), for_ever(&script)).await;
    let error = ended.expect("it ends").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    // Attempts begin at 0 s, 1 s, …, 59 s. The wait that would end at 60 s does not begin.
    assert_eq!(
        (script.calls(), script.elapsed()),
        (60, Duration::from_secs(59))
    );
}

#[tokio::test(start_paused = true)]
async fn decorrelated_jitter_depends_on_the_delay_before() {
    plays! {
        call(attempts = 6, base = "10ms", jitter = "decorrelated", budget = "none",
            on_retry = |event| delays.borrow_mut().push(event.delay())), delays: &RefCell<Vec<Duration>>
    }
    let mut longest = Duration::ZERO;
    for _ in 0..50 {
        let delays = RefCell::default();
        call(&Script::new([RESET]), &delays).await.unwrap_err();
        let delays = delays.into_inner();
        let mut previous = ms(10);
        for &delay in &delays {
            assert!((ms(10)..=previous * 3).contains(&delay), "{delays:?}");
            longest = longest.max(delay);
            previous = delay;
        }
    }
    // If the range depended on the base alone, none of the 250 delays would be above three times the base.
    assert!(longest > ms(30), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn decorrelated_jitter_does_so_too_in_a_call_that_nobody_observes() {
    plays! { call(attempts = 6, base = "10ms", jitter = "decorrelated", budget = "none") }
    let mut longest = Duration::ZERO;
    for _ in 0..50 {
        let begin = Instant::now();
        call(&Script::new([RESET])).await.unwrap_err();
        longest = longest.max(begin.elapsed());
    }
    // Five delays of up to three times the base, each rounded up to a millisecond, are 155 ms.
    assert!(longest > ms(160), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn each_backoff_has_its_ceilings() {
    plays! { linear(attempts = 6, backoff = "linear", jitter = "none", base = "10ms") }
    plays! { fibonacci(attempts = 6, backoff = "fibonacci", jitter = "none", base = "10ms") }
    plays! { constant(attempts = 6, backoff = "constant", jitter = "none", base = "10ms") }
    plays! { exponential(attempts = 6, jitter = "none", base = "10ms", max_delay = "50ms", factor = 3.0) }
    async fn delays(call: impl AsyncFn(&Script) -> io::Result<usize>) -> Vec<u128> {
        let script = Script::new([RESET]);
        call(&script).await.unwrap_err();
        script
            .times()
            .windows(2)
            .map(|pair| pair[1].checked_sub(pair[0]).unwrap().as_millis())
            .collect()
    }
    assert_eq!(delays(linear).await, [10, 20, 30, 40, 50]);
    assert_eq!(delays(fibonacci).await, [10, 10, 20, 30, 50]);
    assert_eq!(delays(constant).await, [10, 10, 10, 10, 10]);
    assert_eq!(delays(exponential).await, [10, 30, 50, 50, 50]);
}

#[tokio::test(start_paused = true)]
async fn a_delay_of_zero_yields_and_does_not_sleep() {
    plays!(eager(attempts = 100, base = "0s", budget = "none"));
    let script = Script::new([RESET]);
    let mut turns = 0;
    let neighbour = async {
        for _ in 0..50 {
            turns += 1;
            tokio::task::yield_now().await;
        }
    };
    let (ended, ()) = tokio::join!(eager(&script), neighbour);
    ended.unwrap_err();
    assert_eq!((script.calls(), turns, script.elapsed()), (100, 50, ms(0)));
}

#[tokio::test(start_paused = true)]
async fn no_two_calls_share_a_jitter_sequence() {
    let mut first_delays = std::collections::HashSet::new();
    for _ in 0..1000 {
        plays!(spread(attempts = 2, base = "10s", budget = "none"));
        let script = Script::new([RESET]);
        spread(&script).await.unwrap_err();
        first_delays.insert(script.times()[1]);
    }
    // Timers round up to milliseconds, so 1,000 draws from 10,001 values have about 952 distinct values.
    assert!(
        first_delays.len() > 850,
        "{} distinct first delays of 1000",
        first_delays.len()
    );
}

#[tokio::test(start_paused = true)]
async fn a_policy_is_named_and_overridden() {
    const STEADY: Policy = Policy::new()
        .with_attempts(5)
        .with_backoff(Backoff::Constant)
        .with_jitter(Jitter::None)
        .with_base(ms(50));
    static BRIEF: Policy = STEADY.with_attempts(2);

    plays!(by_constant(policy = STEADY));
    plays!(by_static(policy = "BRIEF"));
    plays!(overridden(policy = STEADY, attempts = 3, base = "20ms"));
    let (five, two, three) = (
        Script::new([RESET]),
        Script::new([RESET]),
        Script::new([RESET]),
    );
    by_constant(&five).await.unwrap_err();
    by_static(&two).await.unwrap_err();
    overridden(&three).await.unwrap_err();
    assert_eq!(five.times().len(), 5);
    assert_eq!(two.times().len(), 2);
    assert_eq!(three.times(), [270, 290, 310].map(|at| ms(at - 20)));
}

#[tokio::test(start_paused = true)]
async fn keys_override_a_policy_that_only_the_call_knows() {
    plays!(call(policy = given, attempts = 3, base = base), given: Policy, base: Duration);
    let given = Policy::new()
        .with_attempts(5)
        .with_base(ms(70))
        .with_jitter(Jitter::None);
    assert_eq!(
        times_of(async |script| call(script, given, ms(40)).await).await,
        [ms(0), ms(40), ms(120)]
    );
}

#[tokio::test(start_paused = true)]
async fn presets_have_their_numbers() {
    use reattempt::{FAST_IO, NO_RETRY, SLOW_IO};

    plays!(fast(policy = FAST_IO));
    plays!(slow(policy = SLOW_IO));
    plays!(never(policy = NO_RETRY));
    let (fast_script, slow_script, never_script) = (
        Script::new([RESET]),
        Script::new([Step::Hang]),
        Script::new([RESET]),
    );
    fast(&fast_script).await.unwrap_err();
    never(&never_script).await.unwrap_err();
    let stopped = slow(&slow_script).await.unwrap_err();
    assert_eq!(
        (
            fast_script.calls(),
            slow_script.calls(),
            never_script.calls()
        ),
        (3, 5, 1)
    );
    assert_eq!(stopped.kind(), io::ErrorKind::TimedOut);
}

proptest! {
    /// No wait is longer than `max_delay`.
    #[test]
    fn no_wait_is_above_max_delay(base in 0_u64..10_000, max in 1_u64..10_000) {
        plays! {
            call(attempts = 8, base = base, max_delay = longest, jitter = "decorrelated", budget = "none"),
            base: Duration, longest: Duration
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let times = runtime.block_on(async {
            let script = Script::new([RESET]);
            call(&script, ms(base), ms(max)).await.unwrap_err();
            script.times()
        });
        prop_assert_eq!(times.len(), 8);
        for pair in times.windows(2) {
            // Timers round up to the next millisecond.
            prop_assert!(pair[1].checked_sub(pair[0]).unwrap() <= ms(max + 1));
        }
    }
}

const FLOOR: Policy = Policy::new()
    .with_attempts(3)
    .with_base(Duration::ZERO)
    .with_min_delay(ms(300));

#[tokio::test(start_paused = true)]
async fn no_wait_is_shorter_than_min_delay() {
    plays!(literal(attempts = 3, base = "0s", min_delay = "300ms"));
    plays!(of_the_call(policy = FLOOR, min_delay = *shortest), shortest: &Duration);
    assert_eq!(times_of(literal).await, [ms(0), ms(300), ms(600)]);
    let script = Script::new([RESET]);
    of_the_call(&script, &ms(50)).await.unwrap_err();
    assert_eq!(script.times(), [ms(0), ms(50), ms(100)]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_a_lower_bound_beside_min_delay() {
    #[derive(Debug, thiserror::Error, Retryable)]
    #[error("busy")]
    #[retryable(throttled, after = "wait")]
    struct Busy {
        wait: Duration,
    }
    #[retry(policy = FLOOR)]
    async fn busy(script: &Script, wait: Duration) -> Result<usize, Busy> {
        script.play().await.map_err(|_| Busy { wait })
    }
    for (hint, waited) in [(ms(20), ms(300)), (ms(700), ms(700))] {
        assert_eq!(
            times_of(async |script| busy(script, hint).await).await,
            [ms(0), waited, waited * 2],
            "{hint:?}"
        );
    }
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Slow {
    #[error("too many requests")]
    #[retryable(throttled)]
    Throttled,
    #[error("too many requests, wait")]
    #[retryable(throttled, after = "0")]
    Until(Duration),
    #[error("lost")]
    #[retryable(transient)]
    Lost,
}

const GENTLE: Policy = Policy::new()
    .with_attempts(4)
    .with_jitter(Jitter::None)
    .with_base(ms(50))
    .with_throttled_base(ms(1000));

#[tokio::test(start_paused = true)]
async fn a_throttled_failure_without_a_hint_has_a_base_of_its_own() {
    #[retry(policy = GENTLE)]
    async fn call(script: &Script, errors: [fn() -> Slow; 3]) -> Result<usize, Slow> {
        let number = script.calls();
        script.play().await.map_err(|_| errors[number.min(2)]())
    }
    #[retry(attempts = 3, jitter = "none", base = "50ms", throttled_base = *base)]
    async fn of_the_call(script: &Script, base: &Duration) -> Result<usize, Slow> {
        script.play().await.map_err(|_| Slow::Throttled)
    }
    let throttled: fn() -> Slow = || Slow::Throttled;
    for (errors, times) in [
        ([throttled; 3], [0, 1000, 3000, 7000]),
        // The number of the retry counts, whatever failed before.
        (
            [|| Slow::Lost, throttled, || Slow::Lost],
            [0, 50, 2050, 2250],
        ),
        // A hint is a lower bound of the usual delay.
        ([|| Slow::Until(ms(70)); 3], [0, 70, 170, 370]),
    ] {
        assert_eq!(
            times_of(async |script| call(script, errors).await).await,
            times.map(ms)
        );
    }
    let script = Script::new([RESET]);
    of_the_call(&script, &ms(300)).await.unwrap_err();
    assert_eq!(script.times(), [0, 300, 900].map(ms));
}

#[tokio::test(start_paused = true)]
async fn after_a_throttled_failure_the_base_is_ten_times_as_long() {
    #[retry(attempts = 4, base = "50ms", max_delay = "1500ms", jitter = "none")]
    async fn call(script: &Script) -> Result<usize, Slow> {
        script.play().await.map_err(|_| Slow::Throttled)
    }
    assert_eq!(times_of(call).await, [0, 500, 1500, 3000].map(ms));
}

#[tokio::test(start_paused = true)]
async fn listed_delays_are_the_same_after_a_throttled_failure() {
    #[retry(policy = GENTLE, delays = [Duration::from_millis(1), Duration::from_millis(2)])]
    async fn call(script: &Script) -> Result<usize, Slow> {
        script.play().await.map_err(|_| Slow::Throttled)
    }
    assert_eq!(times_of(call).await, [0, 1, 3].map(ms));
}

#[test]
fn the_worst_case_counts_the_longer_base() {
    let policy = GENTLE.with_timeout(ms(1));
    assert_eq!(policy.worst_case(), Some(ms(7004)));
    let shorter = policy.with_throttled_base(ms(1));
    assert_eq!(shorter.worst_case(), Some(ms(354)));
    assert_eq!(Policy::new().throttled_base(), None);
    assert_eq!(GENTLE.throttled_base(), Some(ms(1000)));
    let text = GENTLE.to_string();
    assert!(
        text.contains("exponential backoff, throttled base 1s, jitter none\n"),
        "{text}"
    );
}

#[test]
fn a_policy_tells_of_its_min_delay() {
    assert_eq!(Policy::new().min_delay(), Duration::ZERO);
    assert_eq!(FLOOR.min_delay(), ms(300));
    let text = FLOOR.with_timeout(ms(1)).to_string();
    assert!(text.contains("attempt 2  after 300ms\n"), "{text}");
    assert!(text.ends_with("at most 603ms"), "{text}");
}

#[test]
fn listed_delays_are_not_raised_to_min_delay() {
    const LIST: &[Duration] = &[ms(1), ms(20)];
    let listed = FLOOR.with_delays(LIST);
    assert_eq!(listed.delay_range(1, None), ms(20)..=ms(20));
}

proptest! {
    #[test]
    fn min_delay_raises_each_range(
        base in 0..5000_u64, min in 0..5000_u64, max in 0..5000_u64, n in 0..20_u32, last in 0..5000_u64,
    ) {
        for backoff in [Backoff::Exponential, Backoff::Constant, Backoff::Linear, Backoff::Fibonacci] {
            for jitter in [Jitter::None, Jitter::Full, Jitter::Equal, Jitter::Decorrelated] {
                let policy = Policy::new()
                    .with_backoff(backoff)
                    .with_jitter(jitter)
                    .with_base(ms(base))
                    .with_max_delay(ms(max));
                let (low, high) = policy.delay_range(n, Some(ms(last))).into_inner();
                let raised = policy.with_min_delay(ms(min)).delay_range(n, Some(ms(last)));
                let floor = ms(min.min(max));
                prop_assert_eq!(raised, low.max(floor)..=high.max(floor), "{} {}", backoff, jitter);
            }
        }
    }
}
