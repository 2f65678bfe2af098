//! The budget of a policy, and the budget that all functions with one preset share.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{Budget, FILES, Jitter, Nested, Policy, Preset, codes, retry};
use tokio::time::{advance, timeout};

use crate::script::{RESET, Script, Step, ms};

#[test]
fn a_bare_policy_has_nothing_that_a_hand_written_loop_lacks() {
    let bare = Policy::new().without_budget().with_silent(true);
    let bare = bare
        .with_nested(Nested::Multiply)
        .with_max_retry_after(Duration::MAX);
    assert_eq!(Policy::bare(), bare);
}

/// Two retries. The prices are equal, and no tokens come back over time.
const TWO: Policy = Policy::new()
    .with_attempts(100)
    .with_budget(Budget::aws().with_capacity(28));

#[test]
#[should_panic(expected = "a policy takes no budget with a pause")]
fn a_budget_with_a_pause_is_refused() {
    let _ = Policy::new().with_budget(Budget::new().with_pause());
}

#[tokio::test(start_paused = true)]
async fn functions_with_one_preset_share_the_budget_of_its_policy() {
    static SHARED: Preset = Preset::new("shared", TWO);
    plays!(one(policy = SHARED));
    plays!(other(policy = SHARED));
    let script = Script::new([RESET]);
    assert_eq!(SHARED.budget_level(), Some(28.0));
    one(&script).await.unwrap_err();
    assert_eq!(script.calls(), 3);
    assert_eq!(SHARED.budget_level(), Some(0.0));
    other(&script).await.unwrap_err();
    SHARED.run(|| script.play()).await.unwrap_err();
    SHARED.policy().run(|| script.play()).await.unwrap_err();
    assert_eq!(script.calls(), 3 + 3, "one attempt each");
    // A success gives one token.
    one(&Script::new([Step::Succeed])).await.unwrap();
    assert_eq!(SHARED.budget_level(), Some(1.0));
}

#[tokio::test(start_paused = true)]
async fn functions_with_one_policy_have_a_budget_each() {
    plays!(one(policy = TWO));
    #[retry(policy = policy)]
    async fn other(policy: Policy, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    one(&script).await.unwrap_err();
    other(TWO, &script).await.unwrap_err();
    TWO.run(|| script.play()).await.unwrap_err();
    assert_eq!(script.calls(), 3 * 3);
    one(&script).await.unwrap_err();
    other(TWO, &script).await.unwrap_err();
    assert_eq!(script.calls(), 3 * 3 + 2, "drained");
}

#[tokio::test(start_paused = true)]
async fn a_policy_without_a_budget_never_refuses() {
    static FREE: Preset = Preset::new("free", Policy::new().with_attempts(300).without_budget());
    plays!(call(policy = FREE, base = "0ms"));
    let script = Script::new([RESET]);
    call(&script).await.unwrap_err();
    call(&script).await.unwrap_err();
    assert_eq!(script.calls(), 600);
    assert_eq!(FREE.budget_level(), None);
    assert_eq!(Preset::new("plain", Policy::new()).budget_level(), None);
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_the_attribute_wins_over_that_of_the_policy() {
    static FOUR: Budget = Budget::aws().with_capacity(56);
    static SHARED: Preset = Preset::new("shared", TWO);
    plays!(four(policy = SHARED, budget = FOUR));
    plays!(unbounded(policy = TWO, budget = "none"));
    let script = Script::new([RESET]);
    four(&script).await.unwrap_err();
    assert_eq!(script.calls(), 5);
    unbounded(&script).await.unwrap_err();
    assert_eq!(script.calls(), 5 + 100);
    SHARED
        .run(|| script.play())
        .without_budget()
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 5 + 100 + 100);
    assert_eq!(SHARED.budget_level(), Some(28.0));
}

#[tokio::test(start_paused = true)]
async fn unlimited_attempts_wait_for_the_budget_of_the_policy() {
    const HOUR: Duration = Duration::from_secs(3600);
    const BOUNDED: Policy = TWO
        .with_unlimited_attempts()
        .with_max_delay(HOUR)
        .with_jitter(Jitter::None);
    plays!(constant(policy = BOUNDED));
    plays! { key(policy = TWO, attempts = "unlimited", max_delay = "1h", jitter = "none") }
    let script = Script::new([RESET]);
    assert!(timeout(HOUR / 2, constant(&script)).await.is_err());
    assert!(timeout(HOUR / 2, key(&script)).await.is_err());
    assert_eq!(script.calls(), 2 * 3);
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_a_policy_starts_full_also_with_a_ratio() {
    static RATIO: Preset = Preset::new(
        "ratio",
        Policy::new()
            .with_attempts(100)
            .with_budget(Budget::ratio(0.0)),
    );
    plays!(own(policy = RATIO.policy().with_budget(Budget::ratio(0.0))));
    let script = Script::new([RESET]);
    own(&script).await.unwrap_err();
    assert_eq!(script.calls(), 11);
    assert_eq!(RATIO.budget_level(), Some(10.0), "not shared");
    RATIO.run(|| script.play()).await.unwrap_err();
    assert_eq!(script.calls(), 11 + 11);
}

#[tokio::test(start_paused = true)]
async fn time_refills_the_budget_of_a_preset() {
    static REFILLED: Preset = Preset::new(
        "refilled",
        Policy::new()
            .with_attempts(100)
            .with_budget(Budget::aws().with_refill(7.0).with_capacity(14)),
    );
    let script = Script::new([RESET]);
    // The first seconds of the clock would fill the budget again.
    advance(ms(60_000)).await;
    REFILLED.run(|| script.play()).await.unwrap_err();
    assert_eq!(script.calls(), 2);
    let left = REFILLED.budget_level().unwrap();
    advance(ms(1_000)).await;
    assert!((REFILLED.budget_level().unwrap() - left - 7.0).abs() < 0.1);
}

#[test]
fn a_policy_shows_its_budget_and_is_equal_to_one_with_the_same_numbers() {
    static SHARED: Preset = Preset::new("shared", TWO);
    let shown = |policy: Policy| policy.to_string().lines().next().unwrap().to_owned();
    let plain = "3 attempts, exponential backoff, throttled base 1s, jitter full";
    assert_eq!(shown(Policy::new()), plain);
    assert_eq!(
        shown(Policy::new().without_budget()),
        format!("{plain}, no budget")
    );
    for (capacity, tokens) in [(1, "1 token"), (50, "50 tokens")] {
        let budget = Budget::new().with_capacity(capacity);
        assert_eq!(
            shown(Policy::new().with_budget(budget)),
            format!("{plain}, budget of {tokens}")
        );
    }
    assert_eq!(
        shown(Policy::new().with_nested(Nested::Multiply)),
        format!("{plain}, nested multiply")
    );
    assert_eq!(SHARED.policy(), TWO);
    assert_ne!(TWO.without_budget(), TWO);
    assert_ne!(TWO.with_budget(Budget::aws()), TWO);
    assert_ne!(Policy::new(), Policy::new().with_budget(Budget::new()));
}

/// A scanner holds each of 60 files in a row for 6 looks.
#[tokio::test(start_paused = true)]
async fn files_that_are_held_for_a_while_are_all_renamed_without_a_budget() {
    async fn renamed(policy: Policy) -> usize {
        let mut renamed = 0;
        for _ in 0..60 {
            let looks = AtomicU32::new(0);
            let rename = async || match looks.fetch_add(1, Ordering::Relaxed) {
                0..6 => Err(io::Error::from(io::ErrorKind::ResourceBusy)),
                _ => Ok(()),
            };
            let call = policy.clone().run(rename).verdict(codes::io);
            renamed += usize::from(call.await.is_ok());
        }
        renamed
    }
    assert_eq!(renamed(FILES).await, 60);
    // The same waits, which are too short for a budget to refill.
    assert!(renamed(FILES.with_budget(Budget::new())).await < 60);
    assert_eq!(FILES.worst_case(), None);
}
