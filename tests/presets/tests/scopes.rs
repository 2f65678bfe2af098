//! What a test changes in a scope stays in it.

use std::cell::Cell;
use std::io;

use reattempt::config::Source;
use reattempt::testing::Scope;
use reattempt::{Budget, Outcome, Policy, Preset, is_enabled, observe, retry, set_enabled};

static DB: Preset = Preset::new("db", Policy::new().with_attempts(3));

#[retry(policy = &DB, budget = "none")]
async fn query(calls: &Cell<u32>) -> io::Result<()> {
    calls.set(calls.get() + 1);
    Err(io::ErrorKind::ConnectionReset.into())
}

async fn attempts() -> u32 {
    let calls = Cell::new(0);
    query(&calls).await.unwrap_err();
    calls.get()
}

fn source(attempts: u32) -> Source {
    Source::new([&DB]).with_toml_text("retry.toml", format!("[db]\nattempts = {attempts}"))
}

fn off() -> Source {
    Source::new([&DB]).with_toml_text("retry.toml", "enabled = false")
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
                source(most).apply().unwrap();
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
                Source::new([&DB]).apply().unwrap();
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
    let process = Source::new([&OTHER]).with_toml_text("retry.toml", "[other]\nattempts = 9");
    process.apply().unwrap();
    assert_eq!(OTHER.policy().attempts(), Some(9));
    let ((), _) = Scope::new()
        .run(async { assert_eq!(OTHER.policy().attempts(), Some(3)) })
        .await;
    let five = Scope::new().with_preset(&DB, Policy::new().with_attempts(5));
    assert_eq!(five.run(attempts()).await.0, 5);
    // A source from outside sets the presets of the scope in which it is applied.
    let ((), _) = Scope::new()
        .run(async {
            process.apply().unwrap();
            assert_eq!(OTHER.policy().attempts(), Some(9));
        })
        .await;
    assert_eq!(OTHER.policy().attempts(), Some(9));
}

#[test]
fn the_level_of_a_shared_budget_is_that_outside_of_the_scope() {
    static SHARED: Preset = Preset::new("shared", Policy::new());
    let file = "[shared.budget]\ncapacity = 50";
    let source = Source::new([&SHARED]).with_toml_text("retry.toml", file);
    source.apply().unwrap();
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
    let (outcome, _) = Scope::new()
        .run(async {
            off().apply().unwrap();
            assert!(!is_enabled());
            let (_, report) = observe(query(&Cell::new(0))).await;
            // The source turned them off, so it turns them on again.
            assert!(!is_enabled());
            Source::new([&DB]).apply().unwrap();
            assert!(is_enabled());
            report.map(|report| report.outcome())
        })
        .await;
    assert_eq!(outcome, Some(Outcome::Disabled));
    assert!(is_enabled());
    assert_eq!(attempts().await, 3);
}

/// As an admin page does, because `apply` reads files.
#[tokio::test]
async fn a_source_that_was_made_in_a_scope_changes_that_scope_from_any_thread() {
    let (two, _) = Scope::new()
        .run(async {
            let source = source(2);
            let applied = tokio::task::spawn_blocking(move || source.apply());
            applied.await.unwrap().unwrap();
            attempts().await
        })
        .await;
    assert_eq!(two, 2);
    assert_eq!(DB.policy().attempts(), Some(3));
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
