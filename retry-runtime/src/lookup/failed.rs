//! An error that an attempt returned, with the questions that generated code asks it, in one chain: whether the call keeps
//! it, its verdict, and its text.

use std::error::Error;
use std::fmt::{self, Display, Write as _};

use super::Level;
use crate::classify::{MAX_LINKS, Retryable, Said};
use crate::opaque::opaque;

pub(crate) type BoxedError = Box<dyn Error + Send + Sync>;

/// An error that an attempt returned.
///
/// Method lookup finds `kept` here (see `client`), in `MayBeKept` or in `NotKept`, `said` in [`Probe`] or behind it, and `words` in
/// `Explain` or behind it.
///
/// Method lookup ignores lifetimes, so generated code must not call `kept` if the error type borrows.
pub type Failed<'e, E> = Level<MayBeKept<'e, E>>;

/// Keeps the last error.
#[derive(Debug)]
pub struct Remembers;

/// Keeps nothing.
#[derive(Debug)]
pub struct Forgets;

/// An error that is kept if it is `Send` and converts into a boxed error.
type MayBeKept<'e, E> = Level<NotKept<'e, E>>;

/// An error that is not kept, because it is not `Send` or does not convert into a boxed error.
type NotKept<'e, E> = Level<Probe<'e, E>>;

impl<'e, E> Failed<'e, E> {
    /// Takes the error.
    pub(crate) const fn new(error: &'e E) -> Self {
        Level(Level(Level(Probe::new(error))))
    }
}

impl<E: Send + Into<BoxedError>> MayBeKept<'_, E> {
    /// Chooses whether the error is kept.
    pub fn kept(&self) -> Remembers {
        Remembers
    }
}

impl<E> NotKept<'_, E> {
    /// Chooses whether the error is kept.
    pub fn kept(&self) -> Forgets {
        Forgets
    }
}

/// Asks an error for its verdict. An error type that does not implement [`Retryable`] gives [`Said::UNKNOWN`].
///
/// Method lookup chooses: the method of `Probe` if `E: Retryable` is known, else the method of `Mute`.
/// `E` can be any type: a concrete type, an alias, a type parameter with or without the bound.
///
/// ```text
/// // Output:
/// error.said()       // error: &Probe<E>
/// ```
pub type Probe<'a, E> = Level<Mute<'a, E>>;

impl<'a, E: ?Sized> Probe<'a, E> {
    /// Takes the error to ask.
    pub const fn new(error: &'a E) -> Self {
        let in_pointer = Level(Level(Level(Named(error))));
        let in_chain = Level(Level(Level(Level(in_pointer))));
        Level(Level(in_chain))
    }
}

impl<E: Retryable + ?Sized> Probe<'_, E> {
    /// Asks the error.
    pub fn said(&self) -> Said {
        Said::of(self.error())
    }
}

/// An error whose type does not implement [`Retryable`]. `Explain`, behind `Deref`, has the text of any error.
type Mute<'a, E> = Level<Explain<'a, E>>;

impl<E: ?Sized> Mute<'_, E> {
    /// Returns [`Said::UNKNOWN`].
    pub fn said(&self) -> Said {
        Said::UNKNOWN
    }
}

/// Makes the text of an error of any type.
///
/// ```text
/// Output: error.words()      // error: &Explain<E>
/// ```
///
/// Method lookup chooses: the method of `Explain` if `E: Error`, else that of `Displayed` if `E: Display`, else that
/// of [`Named`].
pub(super) type Explain<'a, E> = Level<SyncChain<'a, E>>;

/// An error that refers to a `Send + Sync` error, such as `anyhow::Error`. This level and the next have only `search`.
pub(super) type SyncChain<'a, E> = Level<SendChain<'a, E>>;

/// One that refers to a `Send` error.
pub(super) type SendChain<'a, E> = Level<LocalChain<'a, E>>;

/// One that refers to an error which is neither `Send` nor `Sync`.
pub(super) type LocalChain<'a, E> = Level<SyncPointer<'a, E>>;

/// A pointer to a `SyncChain`, such as `Arc<anyhow::Error>`.
pub(super) type SyncPointer<'a, E> = Level<LocalPointer<'a, E>>;

/// A pointer to a `LocalChain`.
pub(super) type LocalPointer<'a, E> = Level<Displayed<'a, E>>;

/// An error whose type is `Display`, such as `anyhow::Error` or `String`.
type Displayed<'a, E> = Level<Named<'a, E>>;

/// An error of any type. Its text is the name of the type.
pub struct Named<'a, E: ?Sized>(&'a E);

impl<E: Error> Explain<'_, E> {
    /// Returns the text of the error and of its causes, from the outside in.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: Error> Display for Explain<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        f.write_str(&text)
    }
}

impl<E: Display + ?Sized> Displayed<'_, E> {
    /// Returns the error in the alternate form `{:#}`, in which `anyhow::Error` and `eyre::Report` add their causes.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: Display + ?Sized> Display for Displayed<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error())
    }
}

impl<'a, E: ?Sized> Named<'a, E> {
    /// Returns the error.
    pub const fn error(&self) -> &'a E {
        self.0
    }

    /// Returns the name of the error's type.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: ?Sized> Display for Named<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<E>())
    }
}

opaque! { Named [E: ?Sized] ['_, E]; }

#[cfg(test)]
mod tests {
    use super::Probe;

    #[derive(Debug, thiserror::Error)]
    #[error("fetching")]
    struct Fetching(#[source] std::io::Error);

    struct Silent;

    #[test]
    fn a_std_error_is_told_with_its_causes() {
        let error = Fetching(std::io::Error::other("cable cut"));
        assert_eq!(
            Probe::new(&error).words().to_string(),
            "fetching: cable cut"
        );
    }

    #[test]
    fn a_report_is_told_with_its_causes() {
        let error = anyhow::anyhow!("cable cut")
            .context("connecting")
            .context("fetching");
        assert_eq!(
            Probe::new(&error).words().to_string(),
            "fetching: connecting: cable cut"
        );
    }

    #[test]
    fn a_text_is_told_and_the_rest_is_named() {
        assert_eq!(Probe::new("busy").words().to_string(), "busy");
        assert!(Probe::new(&Silent).words().to_string().ends_with("Silent"));
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
        assert_eq!(Probe::new(&Circle).words().to_string(), "round");
        assert_eq!(Probe::new(&Again(1)).words().to_string(), "again 1");
    }
}
