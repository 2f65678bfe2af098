//! Checks what `docs/MIGRATING.md` and `docs/COMPARISON.md` say about the versions of other crates in `Cargo.lock`.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Runs a future on a paused clock.
fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(future)
}

/// Counts its calls, and fails.
struct Fails(Cell<u32>);

impl Fails {
    fn new() -> Self {
        Self(Cell::new(0))
    }

    fn call(&self) -> io::Result<()> {
        self.0.set(self.0.get() + 1);
        // A kind that no classification would retry.
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn the_pages_name_the_versions_that_are_locked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let lock = read("Cargo.lock");
    let migrating = [
        "backon",
        "backon-macros",
        "reqwest-retry",
        "retry-policies",
        "tokio-retry",
        "tokio-retry2",
        "tower",
    ];
    let compared = [&migrating[..], &["mettle"]].concat();
    for (page, crates) in [
        ("docs/MIGRATING.md", migrating.to_vec()),
        ("docs/COMPARISON.md", compared),
    ] {
        let page = read(page);
        for name in crates {
            let entry = lock
                .split_once(&format!("name = \"{name}\"\nversion = \""))
                .unwrap()
                .1;
            let version = entry.split_once('"').unwrap().0;
            assert!(
                page.contains(&format!("`{name}` {version}")),
                "{name} {version}"
            );
        }
    }
}

mod backon {
    use ::backon::{BackoffBuilder as _, ExponentialBuilder, Retryable as _};

    use super::*;

    #[test]
    fn every_error_is_retried_three_times_unless_when_says_otherwise() {
        let all = Fails::new();
        let result = block_on(
            (|| async { all.call() })
                .retry(ExponentialBuilder::default())
                .into_future(),
        );
        result.unwrap_err();
        assert_eq!(all.0.get(), 4);
        let none = Fails::new();
        let retry = (|| async { none.call() }).retry(ExponentialBuilder::default());
        block_on(
            retry
                .when(|error| error.kind() == io::ErrorKind::ConnectionReset)
                .into_future(),
        )
        .unwrap_err();
        assert_eq!(none.0.get(), 1);
    }

    #[test]
    fn there_is_no_jitter_by_default_and_it_is_added_on_top() {
        let fixed: Vec<_> = ExponentialBuilder::default().build().collect();
        assert_eq!(fixed, [ms(1_000), ms(2_000), ms(4_000)]);
        let jittered = ExponentialBuilder::default()
            .with_max_delay(ms(1_000))
            .with_max_times(200)
            .with_jitter();
        let longest = jittered.build().max().unwrap();
        assert!(longest > ms(1_000) && longest < ms(2_000), "{longest:?}");
    }

    #[test]
    fn equal_jitter_below_twice_the_ceiling_draws_from_the_same_range() {
        let fixed = ExponentialBuilder::default()
            .with_max_delay(ms(3_000))
            .with_max_times(4);
        let ours = reattempt::Policy::new()
            .with_base(ms(2_000))
            .with_max_delay(ms(6_000))
            .with_jitter(reattempt::Jitter::Equal);
        for (n, least) in (0..).zip(fixed.build()) {
            assert_eq!(ours.delay_range(n, None), least..=2 * least);
        }
        let mut delays = fixed.build().zip(fixed.with_jitter().build());
        assert!(delays.all(|(least, drawn)| (least..2 * least).contains(&drawn)));
    }

    #[test]
    fn a_total_delay_bounds_the_sum_of_the_waits_alone() {
        let bounded = ExponentialBuilder::default()
            .with_max_times(9)
            .with_total_delay(Some(ms(3_500)));
        assert_eq!(bounded.build().collect::<Vec<_>>(), [ms(1_000), ms(2_000)]);
        // The attempts take ten seconds each.
        let slow = Fails::new();
        let retry = (|| async {
            tokio::time::sleep(ms(10_000)).await;
            slow.call()
        })
        .retry(bounded);
        block_on(async {
            let began = tokio::time::Instant::now();
            retry.await.unwrap_err();
            assert!(began.elapsed() >= ms(33_000));
        });
    }
}

mod tokio_retry {
    use ::tokio_retry::strategy::ExponentialBackoff;
    use ::tokio_retry::{Retry, RetryIf};

    use super::*;

    #[test]
    fn the_base_is_raised_to_a_power() {
        let tens: Vec<_> = ExponentialBackoff::from_millis(10).take(3).collect();
        assert_eq!(tens, [ms(10), ms(100), ms(1_000)]);
        let doubled: Vec<_> = ExponentialBackoff::from_millis(2)
            .factor(5)
            .take(3)
            .collect();
        assert_eq!(doubled, [ms(10), ms(20), ms(40)]);
        // The same with `base = "10ms", factor = 10.0`.
        let ours = reattempt::Policy::new()
            .with_base(ms(10))
            .with_factor(10.0)
            .with_jitter(reattempt::Jitter::None);
        let ours = (0..3).map(|n| *ours.delay_range(n, None).end());
        assert_eq!(ours.collect::<Vec<_>>(), tens);
    }

    #[test]
    fn every_error_is_retried_unless_a_condition_says_otherwise() {
        let strategy = || ExponentialBackoff::from_millis(10).take(3);
        let all = Fails::new();
        block_on(Retry::start(strategy(), || async { all.call() })).unwrap_err();
        assert_eq!(all.0.get(), 4);
        let none = Fails::new();
        let condition = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
        block_on(RetryIf::start(
            strategy(),
            || async { none.call() },
            condition,
        ))
        .unwrap_err();
        assert_eq!(none.0.get(), 1);
    }
}

mod tokio_retry2 {
    use ::tokio_retry2::strategy::{
        ExponentialBackoff, ExponentialFactorBackoff, MaxInterval as _,
    };
    use ::tokio_retry2::{Retry, RetryError};

    use super::*;

    #[test]
    fn a_question_mark_makes_an_error_transient_and_permanent_ends() {
        let strategy = || {
            ExponentialFactorBackoff::from_millis(50, 2.0)
                .max_delay_millis(2_000)
                .take(3)
        };
        let all = Fails::new();
        let answer = Retry::spawn(strategy(), || async {
            all.call()?;
            Ok::<_, RetryError<io::Error>>(())
        });
        block_on(answer).unwrap_err();
        assert_eq!(all.0.get(), 4);
        let none = Fails::new();
        let answer = Retry::spawn(strategy(), || async {
            none.call().or_else(RetryError::to_permanent)
        });
        block_on(answer).unwrap_err();
        assert_eq!(none.0.get(), 1);
    }

    #[test]
    fn the_base_is_raised_to_a_power() {
        let tens: Vec<_> = ExponentialBackoff::from_millis(10).take(3).collect();
        assert_eq!(tens, [ms(10), ms(100), ms(1_000)]);
    }

    #[test]
    fn the_interval_is_checked_between_attempts() {
        let slow = Fails::new();
        block_on(async {
            let began = tokio::time::Instant::now();
            let strategy = ExponentialFactorBackoff::from_millis(50, 2.0).max_interval(1_000);
            let answer = Retry::spawn(strategy, || async {
                tokio::time::sleep(ms(60_000)).await;
                slow.call().or_else(RetryError::to_transient)
            });
            answer.await.unwrap_err();
            assert!(began.elapsed() >= ms(60_000));
        });
    }
}

mod tower {
    use ::tower::retry::budget::{Budget as _, TpsBudget};
    use ::tower::retry::{Policy, RetryLayer};
    use ::tower::{ServiceBuilder, ServiceExt as _, service_fn};

    use super::*;

    /// The policy of the page.
    #[derive(Clone)]
    struct Attempts {
        left: usize,
        budget: Arc<TpsBudget>,
    }

    impl<Req: Clone, Res, E> Policy<Req, Res, E> for Attempts {
        type Future = tokio::time::Sleep;

        fn retry(&mut self, _: &mut Req, result: &mut Result<Res, E>) -> Option<Self::Future> {
            match result {
                Ok(_) => {
                    self.budget.deposit();
                    None
                }
                Err(_) if self.left > 0 && self.budget.withdraw() => {
                    self.left -= 1;
                    Some(tokio::time::sleep(ms(100)))
                }
                Err(_) => None,
            }
        }

        fn clone_request(&mut self, request: &Req) -> Option<Req> {
            Some(request.clone())
        }
    }

    #[test]
    fn the_policy_of_the_page_makes_three_retries() {
        let fails = Fails::new();
        block_on(async {
            let budget = Arc::new(TpsBudget::new(Duration::from_secs(10), 1, 0.1));
            let layer = RetryLayer::new(Attempts { left: 3, budget });
            let service = ServiceBuilder::new()
                .layer(layer)
                .service(service_fn(|_: u8| async { fails.call() }));
            service.oneshot(7).await.unwrap_err();
        });
        assert_eq!(fails.0.get(), 4);
    }

    #[test]
    fn a_budget_of_a_tenth_allows_one_retry_for_ten_calls() {
        block_on(async {
            let budget = TpsBudget::new(Duration::from_secs(10), 0, 0.1);
            (0..10).for_each(|_| budget.deposit());
            assert!(budget.withdraw());
            assert!(!budget.withdraw());
        });
    }
}

mod mettle {
    use super::*;

    #[test]
    fn every_error_is_retried_three_times_by_default() {
        let fails = Fails::new();
        block_on(async {
            ::mettle::retry(|| async { fails.call() })
                .await
                .unwrap_err()
        });
        assert_eq!(fails.0.get(), 4);
    }
}
