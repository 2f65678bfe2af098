//! The trait that `#[retryable(forward)]` requires of a field.

use std::time::Duration;

use crate::{Retryable, Verdict};

/// A field that has a verdict to forward.
///
/// It is not [`Retryable`] itself, because its compile error gives other help than for the error type of a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no verdict to forward",
    label = "no verdict for `{Self}`",
    note = "`reattempt` has features for `deadpool` 0.13, `h2` 0.4, `http` 1, `hyper` 1, `redis` 1, `reqwest` 0.13 and 0.12 (`reqwest-0_12`), `reqwest-middleware` 0.5, `sea-orm` 2, `sqlx` 0.9 and 0.8 (`sqlx-0_8`), `tokio-postgres` 0.7 and `tonic` 0.14; other versions of these have no verdict, and neither has a fork (`package = \"…\"`), which is another crate",
    note = "write a function that returns the verdict: `#[retryable(with = \"path::to_function\")]`, with `fn to_function(error: &{Self}) -> Verdict`"
)]
pub trait Forwards {
    /// Returns the verdict of the field.
    fn verdict(&self) -> Verdict;

    /// Returns the hint of the field.
    fn hint(&self) -> Option<Duration>;
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
}

#[cfg(test)]
mod tests {
    /// The clients, each with its dependencies. The messages name the versions of these.
    const CLIENTS: [(&str, &[&str]); 11] = [
        ("deadpool", &["deadpool"]),
        ("h2", &["h2"]),
        ("http", &["http"]),
        ("hyper", &["hyper"]),
        ("redis", &["redis"]),
        ("reqwest", &["reqwest", "reqwest-0_12"]),
        ("reqwest-middleware", &["reqwest-middleware"]),
        ("sea-orm", &["sea-orm"]),
        ("sqlx", &["sqlx-core", "sqlx-core-0_8"]),
        ("tokio-postgres", &["tokio-postgres"]),
        ("tonic", &["tonic"]),
    ];

    #[test]
    fn the_messages_name_the_versions_that_the_features_know() {
        let manifest = include_str!("../Cargo.toml");
        let version = |dependency: &str| {
            let mut lines = manifest.lines();
            let line = lines
                .find(|line| line.starts_with(&format!("{dependency} = {{")))
                .unwrap();
            let (_, version) = line.split_once("version = \"").unwrap();
            let mut parts = version.split(['.', '"']);
            match (parts.next().unwrap(), parts.next().unwrap()) {
                ("0", minor) => format!("0.{minor}"),
                (major, _) => major.to_owned(),
            }
        };
        for (name, dependencies) in CLIENTS {
            let versions: Vec<_> = dependencies.iter().copied().map(version).collect();
            let named = format!("`{name}` {}", versions.join(" and "));
            let named = match dependencies {
                // A feature for an older version has the version in its name.
                [_, older] => {
                    let (_, version) = older.split_once("-0_").unwrap();
                    format!("{named} (`{name}-0_{version}`)")
                }
                _ => named,
            };
            for message in [
                include_str!("forward.rs"),
                include_str!("classify/verdict.rs"),
                include_str!("../../README.md"),
            ] {
                assert!(message.contains(&named), "{named}");
            }
        }
    }

    /// Each feature for a client is in the list.
    #[test]
    fn no_client_is_left_out() {
        let manifest = include_str!("../Cargo.toml");
        let (_, rest) = manifest.split_once("# One adapter each.").unwrap();
        let (features, _) = rest.split_once("\n\n").unwrap();
        let mut features: Vec<_> = features
            .lines()
            .filter_map(|line| Some(line.split_once(" = [")?.0.split("-0_").next().unwrap()))
            .collect();
        features.dedup();
        assert_eq!(features, CLIENTS.map(|(name, _)| name));
    }
}
