//! What a test changes in a scope stays in it.

use std::cell::Cell;
use std::io;

use reattempt::testing::Scope;
use reattempt::{
    Budget, Outcome, Policy, Preset, Settings, configure, is_enabled, retry, set_enabled,
};

static DB: Preset = Preset::new("db", Policy::new().with_attempts(3));

#[retry(policy = DB, budget = "none")]
async fn query(calls: &Cell<u32>) -> io::Result<()> {
    calls.set(calls.get() + 1);
    Err(io::ErrorKind::ConnectionReset.into())
}

async fn attempts() -> u32 {
    let calls = Cell::new(0);
    query(&calls).await.unwrap_err();
    calls.get()
}

fn apply(preset: &'static Preset, text: &str) {
    let settings: Settings = toml::from_str(text).unwrap();
    configure([(preset, settings)]).unwrap();
}

/// Each scope in a task and a thread of its own, with overrides and switches that change all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_scopes_see_nothing_of_each_other() {
    let scopes = (0..200_u32).map(|number| {
        tokio::spawn(Scope::new().run(async move {
            for round in 0..10 {
                assert_eq!(DB.policy().attempts(), Some(3));
                assert!(is_enabled());
                let most = 1 + (number + round) % 7;
                apply(&DB, &format!("attempts = {most}"));
                tokio::task::yield_now().await;
                let calls = std::sync::atomic::AtomicU32::new(0);
                let counted = DB.run(async || {
                    calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))
                });
                counted.without_budget().await.unwrap_err();
                assert_eq!(calls.into_inner(), most);
                if number % 2 == 0 {
                    set_enabled(false);
                    tokio::task::yield_now().await;
                    assert!(!is_enabled());
                    set_enabled(true);
                }
                // Back to the code.
                apply(&DB, "");
            }
        }))
    });
    for scope in scopes.collect::<Vec<_>>() {
        scope.await.unwrap();
    }
    assert_eq!(DB.policy().attempts(), Some(3));
    assert!(is_enabled());
}

#[tokio::test]
async fn a_scope_has_the_policy_that_it_says_or_that_of_the_code() {
    static OTHER: Preset = Preset::new("other", Policy::new().with_attempts(3));
    // The configuration of the process does not reach into scopes.
    apply(&OTHER, "attempts = 9");
    assert_eq!(OTHER.policy().attempts(), Some(9));
    let ((), _) = Scope::new()
        .run(async { assert_eq!(OTHER.policy().attempts(), Some(3)) })
        .await;
    let five = Scope::new().with_preset(&DB, Policy::new().with_attempts(5));
    assert_eq!(five.run(attempts()).await.0, 5);
}

#[test]
fn the_level_of_a_shared_budget_is_that_outside_of_the_scope() {
    static SHARED: Preset = Preset::new("shared", Policy::new());
    apply(&SHARED, "budget.capacity = 50");
    let other = Policy::new().with_budget(Budget::new().with_capacity(7));
    for scope in [Scope::new(), Scope::new().with_preset(&SHARED, other)] {
        let (level, _) = scope.run_blocking(|| SHARED.budget_level());
        assert_eq!(level, Some(50.0));
    }
}

#[tokio::test]
async fn a_scope_has_a_switch_of_its_own() {
    let (attempt, log) = Scope::new().with_enabled(false).run(attempts()).await;
    assert_eq!(attempt, 1);
    assert_eq!(log.calls()[0].report().outcome(), Outcome::Disabled);
    assert!(is_enabled());
    assert_eq!(attempts().await, 3);
}

#[test]
fn a_call_stays_in_its_scope_to_its_end() {
    let ((), log) = Scope::new().run_blocking(|| {
        #[retry(blocking, attempts = 3, budget = "none")]
        fn fails() -> io::Result<()> {
            set_enabled(false);
            Err(io::ErrorKind::ConnectionReset.into())
        }
        fails().unwrap_err();
    });
    assert_eq!(log.calls()[0].report().outcome(), Outcome::Disabled);
    assert_eq!(log.calls()[0].report().attempts(), 1);
    assert!(is_enabled());
}
