//! "What it adds", in the README: each bullet has a test of our own. How often nested retries run the operation
//! is compared with the other crates.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use tokio::runtime::Builder;

/// A bullet of the README, with the name and the file of a test that shows it.
struct Bullet {
    title: &'static str,
    file: &'static str,
    test: &'static str,
}

const BULLETS: [Bullet; 5] = [
    Bullet {
        title: "A retry budget for every function.",
        file: "tests/behaviour/budget.rs",
        test: "without_a_key_a_function_makes_100_retries_while_everything_fails",
    },
    Bullet {
        title: "Nested retries add up instead of multiplying.",
        file: "tests/behaviour/nesting.rs",
        test: "two_layers_of_four_make_seven_calls",
    },
    Bullet {
        title: "Deadlines are inherited.",
        file: "tests/behaviour/inherited.rs",
        test: "an_inner_call_keeps_the_deadline_around_it",
    },
    Bullet {
        title: "Errors carry a verdict.",
        file: "tests/ui/fail/derive-variant-silent.stderr",
        test: "error: variant `Closed`",
    },
    Bullet {
        title: "Policies change while the program runs.",
        file: "tests/presets/tests/presets.rs",
        test: "a_reload_reads_the_file_again_and_a_preset_that_is_gone_returns_to_its_code",
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_readme_has_these_bullets_and_each_has_a_test() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let readme = read("README.md");
    let (_, section) = readme.split_once("## What it adds\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let titles: Vec<_> = section
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("**"))
        .map(|(title, _)| title)
        .collect();
    assert_eq!(titles, BULLETS.map(|bullet| bullet.title));
    for Bullet { title, file, test } in BULLETS {
        assert!(read(file).contains(test), "{title} {file} has no `{test}`");
    }
}

mod nested {
    use super::*;

    /// How often an operation runs if it always fails.
    fn runs<F: Future>(call: impl FnOnce(&'static Cell<u32>) -> F) -> u32 {
        let runs = Box::leak(Box::new(Cell::new(0)));
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        drop(runtime.unwrap().block_on(call(runs)));
        runs.get()
    }

    fn fail(runs: &Cell<u32>) -> io::Result<()> {
        runs.set(runs.get() + 1);
        Err(io::ErrorKind::ConnectionReset.into())
    }

    #[test]
    fn four_attempts_around_four_make_7_calls_here() {
        #[reattempt::retry(attempts = 4)]
        async fn inner(runs: &Cell<u32>) -> io::Result<()> {
            fail(runs)
        }
        #[reattempt::retry(attempts = 4)]
        async fn outer(runs: &Cell<u32>) -> io::Result<()> {
            inner(runs).await
        }
        assert_eq!(runs(outer), 7);
    }

    #[test]
    fn they_make_16_calls_with_backon() {
        use backon::{ExponentialBuilder, Retryable as _};
        assert_eq!(
            runs(|runs| (move || {
                (move || async { fail(runs) })
                    .retry(ExponentialBuilder::default())
                    .into_future()
            })
            .retry(ExponentialBuilder::default())
            .into_future()),
            16
        );
    }

    #[test]
    fn they_make_16_calls_with_mettle() {
        assert_eq!(
            runs(|runs| async move {
                mettle::retry(|| async { mettle::retry(|| async { fail(runs) }).await }).await
            }),
            16
        );
    }

    #[test]
    fn they_make_16_calls_with_tokio_retry() {
        use tokio_retry::Retry;
        let waits = || [Duration::from_millis(10); 3];
        assert_eq!(
            runs(|runs| Retry::start(waits(), move || {
                Retry::start(waits(), move || async { fail(runs) })
            })),
            16
        );
    }

    #[test]
    fn they_make_16_calls_with_tokio_retry2() {
        use tokio_retry2::{Retry, RetryError};
        let waits = || [Duration::from_millis(10); 3];
        assert_eq!(
            runs(|runs| Retry::spawn(waits(), move || async move {
                let inner = Retry::spawn(waits(), || async {
                    fail(runs)?;
                    Ok::<_, RetryError<io::Error>>(())
                });
                inner.await?;
                Ok::<_, RetryError<io::Error>>(())
            })),
            16
        );
    }

    #[test]
    fn they_make_16_calls_with_tower() {
        use tower::retry::{Policy, RetryLayer};
        use tower::{ServiceBuilder, ServiceExt as _, service_fn};

        #[derive(Clone)]
        struct Attempts(usize);

        impl Policy<(), (), io::Error> for Attempts {
            type Future = tokio::time::Sleep;

            fn retry(
                &mut self,
                (): &mut (),
                result: &mut io::Result<()>,
            ) -> Option<tokio::time::Sleep> {
                self.0 = self.0.checked_sub(1)?;
                let wait = tokio::time::sleep(Duration::from_millis(10));
                result.is_err().then_some(wait)
            }

            fn clone_request(&mut self, (): &()) -> Option<()> {
                Some(())
            }
        }

        assert_eq!(
            runs(|runs| async {
                let service = ServiceBuilder::new()
                    .layer(RetryLayer::new(Attempts(3)))
                    .layer(RetryLayer::new(Attempts(3)))
                    .service(service_fn(|()| async { fail(runs) }));
                service.oneshot(()).await
            }),
            16
        );
    }
}
