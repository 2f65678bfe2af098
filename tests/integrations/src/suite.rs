//! Tests that need a program, in a test target with `harness = false`.
//!
//! If the program is missing, the tests are reported as ignored, with the reason. If the variable `CI` is set,
//! they fail.
//!
//! ```text
//! integrations::tests! {
//!     [redis::PROGRAM] => a_lost_connection_is_transient, a_restart_is_waited_for;
//!     [] => a_test_without_a_program;
//! }
//! ```

use std::future::Future;
use std::process::ExitCode;

pub use libtest_mimic::Trial;
use libtest_mimic::{Arguments, Completion, Failed};

use crate::program::{Missing, Program};

/// Writes a `main` that runs the named async functions as tests.
///
/// A function that is in no list is dead code, which is an error in CI.
#[macro_export]
macro_rules! tests {
    ($($programs:expr => $($($test:ident)::+),+;)+) => {
        pub(crate) fn main() -> ::std::process::ExitCode {
            $crate::suite::run(::std::vec![$($(
                $crate::suite::needing(
                    ::std::stringify!($($test)::+),
                    &$programs,
                    || $($test)::+(),
                ),
            )+)+])
        }
    };
}

/// Runs the tests, with the arguments and the output of `cargo test`.
///
/// # Panics
///
/// If two tests have the same name.
#[must_use]
pub fn run(tests: Vec<Trial>) -> ExitCode {
    let mut names: Vec<_> = tests.iter().map(|test| test.name().to_owned()).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "a test is named twice");
    let mut arguments = Arguments::from_args();
    // They wait for servers and browsers for most of their time, also on two cores.
    arguments.test_threads.get_or_insert(4);
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Makes a test that needs these programs, with its own runtime.
///
/// It is ignored if a program is missing, and fails instead if the variable `CI` is set.
pub fn needing<F: Future<Output = ()>>(
    name: &str,
    programs: &[Program],
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    // `stringify!` puts spaces around the colons of a path.
    let name = name.replace(' ', "");
    let missing = programs.iter().find_map(|program| program.find().err());
    Trial::ignorable_test(name, move || {
        if let Some(missing) = missing {
            return left_out(missing, std::env::var_os("CI").is_some());
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(test());
        Ok(Completion::Completed)
    })
}

fn left_out(missing: Missing, ci: bool) -> Result<Completion, Failed> {
    if ci {
        Err(missing.into())
    } else {
        Ok(Completion::ignored_with(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_a_reason_to_ignore_a_test_and_a_failure_in_ci() {
        let missing = Missing(Program {
            names: &["no-such-program"],
            package: "nothing",
            folders: &[],
        });
        let Ok(Completion::Ignored { reason }) = left_out(missing, false) else {
            panic!("not ignored");
        };
        assert_eq!(reason.unwrap(), missing.to_string());
        let failed = left_out(missing, true).err().unwrap();
        assert_eq!(failed.message(), Some(missing.to_string().as_str()));
    }
}
