//! An error that an attempt returned, with the questions that generated code asks it, in one chain: whether the call keeps
//! it, its verdict, its text, and where to look for another error.

use std::error::Error;
use std::fmt::{self, Display, Write as _};
use std::marker::PhantomData;

use super::Level;
use crate::classify::{MAX_LINKS, Retryable, Said};
use crate::opaque::opaque;

pub(crate) type BoxedError = Box<dyn Error + Send + Sync>;

/// An error that an attempt returned. The `kept` of an error of a client is here (see `client`).
///
/// Method lookup ignores lifetimes, so generated code must not call `kept` if the error type borrows.
pub type Failed<'e, E> = Level<Probe<'e, E>>;

/// What a call keeps of an error: the error.
#[derive(Debug)]
pub struct Kept<E>(pub(crate) E);

/// What a call keeps of an error: nothing.
#[derive(Debug)]
pub enum Nothing {}

/// Asks an error. `E` can be any type: a concrete type, an alias, a type parameter with or without the bound.
///
/// ```text
/// // Output:                                 E                                        else
/// error.said()           // its verdict      Retryable                                Said::UNKNOWN
/// error.kept()           // Kept<E>          Send, and converts into a boxed error    Nothing
/// error.words()          // its text         Error, or Display                        the name of its type
/// error.search::<A>()    // where to look    Error, or a level below                  itself
/// ```
///
/// Method lookup chooses: the method here if `E` has the bound, else that of a level behind it, and at last that of [`Named`].
pub type Probe<'a, E> = Level<SyncChain<'a, E>>;

/// An error that refers to a `Send + Sync` error, such as `anyhow::Error`. This level and the next four have only `search`.
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

/// An error of any type: the last level, which answers what no other does. Its text is the name of the type.
pub struct Named<'a, E: ?Sized>(&'a E);

impl<'e, E> Failed<'e, E> {
    /// Takes the error.
    pub(crate) const fn new(error: &'e E) -> Self {
        Level(Probe::new(error))
    }

    /// Keeps nothing of an error that may borrow.
    pub fn dropped(&self) -> PhantomData<Nothing> {
        PhantomData
    }
}

impl<'a, E: ?Sized> Probe<'a, E> {
    /// Takes the error to ask.
    pub const fn new(error: &'a E) -> Self {
        let in_pointer = Level(Level(Level(Named(error))));
        Level(Level(Level(Level(in_pointer))))
    }
}

impl<E: Retryable + ?Sized> Probe<'_, E> {
    /// Asks the error for its verdict.
    pub fn said(&self) -> Said {
        Said::of(self.error())
    }
}

impl<E: Send + Into<BoxedError>> Probe<'_, E> {
    /// Chooses what is kept of the error.
    pub fn kept(&self) -> PhantomData<Kept<E>> {
        PhantomData
    }
}

impl<E: Error> Probe<'_, E> {
    /// Returns the text of the error and of its causes, from the outside in.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: Error> Display for Probe<'_, E> {
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

    /// Returns [`Said::UNKNOWN`].
    pub fn said(&self) -> Said {
        Said::UNKNOWN
    }

    /// Keeps no error.
    pub fn kept(&self) -> PhantomData<Nothing> {
        PhantomData
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
