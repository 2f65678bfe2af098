//! "What no other crate does", in the README. For each bullet there is a test of ours, and a check of the others.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fs, io};

use tokio::runtime::Builder;

/// A bullet of the README, with the name and the file of a test of ours that shows it.
struct Bullet {
    title: &'static str,
    file: &'static str,
    test: &'static str,
}

const BULLETS: [Bullet; 5] = [
    Bullet {
        title: "A retry budget by default.",
        file: "tests/behaviour/budget.rs",
        test: "without_a_key_a_function_makes_250_retries_while_everything_fails",
    },
    Bullet {
        title: "Nested retries add, they do not multiply.",
        file: "tests/behaviour/nesting.rs",
        test: "two_layers_of_four_make_seven_calls",
    },
    Bullet {
        title: "Deadlines are inherited.",
        file: "tests/behaviour/inherited.rs",
        test: "an_inner_call_keeps_the_deadline_around_it",
    },
    Bullet {
        title: "Every error has a verdict.",
        file: "tests/ui/fail/derive-variant-silent.stderr",
        test: "error: variant `Closed`",
    },
    Bullet {
        title: "Settings can change while the program runs.",
        file: "tests/presets/tests/presets.rs",
        test: "a_reload_reads_the_file_again_and_a_preset_that_is_gone_returns_to_its_code",
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_readme_has_these_bullets_and_each_has_a_test_of_ours() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let readme = read("README.md");
    let (_, section) = readme.split_once("## What no other crate does\n").unwrap();
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

/// The manifests and sources of the crates that are locked here, without comments and tests.
static SOURCES: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let others = [
        "backon",
        "backon-macros",
        "mettle",
        "tokio-retry",
        "tokio-retry2",
        "tower",
    ];
    let source = |name| {
        let package = packages.iter().find(|package| package["name"] == name);
        let manifest = package.unwrap()["manifest_path"].as_str().unwrap();
        let mut text = fs::read_to_string(manifest).unwrap();
        gather(&Path::new(manifest).with_file_name("src"), &mut text);
        (name, text.to_lowercase())
    };
    others.map(source).into()
});

fn gather(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            gather(&path, text);
        } else if !name.starts_with("test") {
            let source = fs::read_to_string(&path).unwrap();
            let code = source
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            code.for_each(|line| text.extend([line, "\n"]));
        }
    }
}

/// The crates whose sources have one of these words.
fn with(words: &[&str]) -> Vec<&'static str> {
    let has = |text: &String| words.iter().any(|word| text.contains(word));
    let having = SOURCES.iter().filter(|(_, text)| has(text));
    having.map(|(name, _)| *name).collect()
}

#[test]
fn only_tower_has_a_retry_budget_and_its_policies_have_to_use_it() {
    // The budget of mettle is a limit of time.
    assert_eq!(with(&["budget"]), ["mettle", "tower"]);
    // The layer of tower takes a policy, which each user writes. `claims.rs` has an example.
    assert_eq!(with(&["trait budget"]), ["tower"]);
}

#[test]
fn none_of_the_others_knows_the_call_around_it() {
    let know = with(&["task_local", "thread_local", "scoped_tls"]);
    assert!(know.is_empty(), "{know:?}");
}

#[test]
fn none_of_the_others_derives_verdicts() {
    let derive = with(&["proc_macro_derive"]);
    assert!(derive.is_empty(), "{derive:?}");
}

#[test]
fn none_of_the_others_reads_files_or_variables() {
    let read = with(&["env::var", "fs::read", "file::open", "toml::"]);
    assert!(read.is_empty(), "{read:?}");
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
