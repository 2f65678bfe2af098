//! The text of an error for events and spans: the error, then its causes.

use std::error::Error;
use std::fmt::{self, Display, Write as _};

use crate::classify::MAX_LINKS;
use crate::trace::Words;

/// Makes the text of an error of any type.
///
/// ```text
/// Output: error.words()      // error: &Explain<E>
/// ```
///
/// Method lookup chooses: the method of `Explain` if `E: Error`, else that of [`Displayed`] if `E: Display`, else that
/// of [`Named`].
pub struct Explain<'a, E: ?Sized>(Displayed<'a, E>);

/// An error whose type is `Display`, such as `anyhow::Error` or `String`.
pub struct Displayed<'a, E: ?Sized>(Named<'a, E>);

/// An error of any type. Its text is the name of the type.
pub struct Named<'a, E: ?Sized>(&'a E);

impl<'a, E: ?Sized> Explain<'a, E> {
    /// Takes the error.
    #[inline]
    pub const fn new(error: &'a E) -> Self {
        Self(Displayed(Named(error)))
    }

    /// Returns the error.
    #[inline]
    #[must_use]
    pub const fn error(&self) -> &'a E {
        self.0.0.0
    }
}

impl<E: Error> Explain<'_, E> {
    /// Returns the text of the error and of its causes, from the outside in.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &dyn Words {
        self
    }
}

impl<E: Error> Words for Explain<'_, E> {
    fn text(&self) -> String {
        let error = self.error();
        let mut text = error.to_string();
        let mut cause = error.source();
        for _ in 0..MAX_LINKS {
            let Some(link) = cause else { break };
            let words = link.to_string();
            // Many errors end with the text of their cause.
            if !text.ends_with(&words) {
                let _ = write!(text, ": {words}");
            }
            cause = link.source();
        }
        text
    }
}

impl<E: Display + ?Sized> Displayed<'_, E> {
    /// Returns the error in the alternate form `{:#}`, in which `anyhow::Error` and `eyre::Report` add their causes.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &dyn Words {
        self
    }
}

impl<E: Display + ?Sized> Words for Displayed<'_, E> {
    fn text(&self) -> String {
        format!("{:#}", self.0.0)
    }
}

impl<E: ?Sized> Named<'_, E> {
    /// Returns the name of the error's type.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &dyn Words {
        self
    }
}

impl<E: ?Sized> Words for Named<'_, E> {
    fn text(&self) -> String {
        std::any::type_name::<E>().to_owned()
    }
}

levels! {
    ['a, E: ?Sized] Explain<'a, E> => Displayed<'a, E>;
    ['a, E: ?Sized] Displayed<'a, E> => Named<'a, E>;
}

impl<E: ?Sized> fmt::Debug for Named<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<E>())
    }
}

#[cfg(test)]
mod tests {
    use super::Explain;

    #[derive(Debug, thiserror::Error)]
    #[error("fetching")]
    struct Fetching(#[source] std::io::Error);

    struct Silent;

    #[test]
    fn a_std_error_is_told_with_its_causes() {
        let error = Fetching(std::io::Error::other("cable cut"));
        assert_eq!(Explain::new(&error).words().text(), "fetching: cable cut");
    }

    #[test]
    fn a_report_is_told_with_its_causes() {
        let error = anyhow::anyhow!("cable cut")
            .context("connecting")
            .context("fetching");
        assert_eq!(
            Explain::new(&error).words().text(),
            "fetching: connecting: cable cut"
        );
    }

    #[test]
    fn a_text_is_told_and_the_rest_is_named() {
        assert_eq!(Explain::new("busy").words().text(), "busy");
        assert!(Explain::new(&Silent).words().text().ends_with("Silent"));
    }

    #[test]
    fn a_chain_that_points_at_itself_ends() {
        #[derive(Debug, thiserror::Error)]
        #[error("again {0}")]
        struct Again(u8);
        #[derive(Debug)]
        struct Circle;
        impl std::fmt::Display for Circle {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("round")
            }
        }
        impl std::error::Error for Circle {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                static CIRCLE: Circle = Circle;
                Some(&CIRCLE)
            }
        }
        assert_eq!(Explain::new(&Circle).words().text(), "round");
        assert_eq!(Explain::new(&Again(1)).words().text(), "again 1");
    }
}
