//! What `#[retryable(forward)]` asks of a field.

use std::time::Duration;

use crate::{Retryable, Verdict};

/// A field that has a verdict to forward.
///
/// A trait of its own, because what to write where there is none is different from what a function's
/// error needs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no verdict to forward",
    label = "no verdict for `{Self}`",
    note = "ask a function of yours: `#[retryable(with = \"path::to_function\")]`, with `fn to_function(error: &{Self}) -> Verdict`",
    note = "`reattempt` has features for `h2` 0.4, `http` 1, `hyper` 1, `redis` 1, `reqwest` 0.13, `tokio-postgres` 0.7 and `tonic` 0.14; other versions of these have no verdict"
)]
pub trait Forwards {
    /// The verdict of the field.
    fn verdict(&self) -> Verdict;

    /// The hint of the field.
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
    /// Each dependency with a feature of its own, and the version that the message names.
    #[test]
    fn the_message_names_the_versions_that_the_features_know() {
        let manifest = include_str!("../Cargo.toml");
        let said = include_str!("forward.rs");
        for name in [
            "h2",
            "http",
            "hyper",
            "redis",
            "reqwest",
            "tokio-postgres",
            "tonic",
        ] {
            let line = manifest
                .lines()
                .find(|line| line.starts_with(&format!("{name} = {{ version")))
                .unwrap();
            let version = line.split('"').nth(1).unwrap();
            let mut parts = version.split('.');
            let (major, minor) = (parts.next().unwrap(), parts.next().unwrap());
            let compatible = match major {
                "0" => format!("0.{minor}"),
                major => major.to_owned(),
            };
            assert!(
                said.contains(&format!("`{name}` {compatible}")),
                "{name} {compatible}"
            );
        }
    }
}
