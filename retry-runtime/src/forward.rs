//! The trait that `#[retryable(forward)]` requires of a field.

use std::time::Duration;

use crate::{Retryable, Verdict};

/// A field that has a verdict to forward.
///
/// It is not [`Retryable`] itself, because its compile error gives other help than for the error type of a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no verdict to forward",
    label = "no verdict for `{Self}`",
    note = "`reattempt` has the features `deadpool-0_13`, `h2-0_4`, `http-1`, `hyper-1`, `redis-1`, `reqwest-0_13`, `reqwest-0_12`, `reqwest-middleware-0_5`, `reqwest-middleware-0_4`, `sea-orm-2`, `sea-orm-1`, `sqlx-0_9`, `sqlx-0_8`, `tokio-postgres-0_7`, `tonic-0_14` and `tonic-0_13`; other versions of these have no verdict, and neither has a fork (`package = \"…\"`), which is another crate; nor has `sqlx::migrate::MigrateError`, which `on(sqlx::Error), idempotent = true` retries",
    note = "write a function that returns the verdict: `#[retryable(with = \"path::to_function\")]`, with `fn to_function(error: &{Self}) -> Verdict`"
)]
pub trait Forwards {
    /// Returns the verdict of the field.
    fn verdict(&self) -> Verdict;

    /// Returns the hint of the field.
    fn hint(&self) -> Option<Duration>;

    /// Returns whether the client of the field ended the request at a limit of its own.
    fn timed_out(&self) -> bool;

    /// Returns whether what failed with the field may have run.
    fn may_have_run(&self) -> bool;
}

#[diagnostic::do_not_recommend]
impl<T: Retryable + ?Sized> Forwards for T {
    #[inline]
    fn verdict(&self) -> Verdict {
        Retryable::verdict(self)
    }

    #[inline]
    fn hint(&self) -> Option<Duration> {
        Retryable::hint(self)
    }

    #[inline]
    fn timed_out(&self) -> bool {
        Retryable::timed_out(self)
    }

    #[inline]
    fn may_have_run(&self) -> bool {
        Retryable::may_have_run(self)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_messages_and_the_readme_name_the_feature_of_each_client() {
        let manifest = include_str!("../Cargo.toml");
        let (_, rest) = manifest.split_once("# One adapter each.").unwrap();
        let (features, _) = rest.split_once("\n\n").unwrap();
        let features: Vec<_> = features
            .lines()
            .filter_map(|line| Some(line.split_once(" = [")?.0))
            // What versions share is no feature of the facade.
            .filter(|name| !name.starts_with('_'))
            .map(|name| format!("`{name}`"))
            .collect();
        let (last, rest) = features.split_last().unwrap();
        let named = format!("{} and {last}", rest.join(", "));
        for text in [
            include_str!("forward.rs"),
            include_str!("classify/verdict.rs"),
            include_str!("../../README.md"),
        ] {
            assert!(text.contains(&named), "{named}");
        }
    }
}
