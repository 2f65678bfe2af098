//! An error that an attempt returned, with the questions that generated code asks it, in one chain: whether the call keeps
//! it, its verdict, its text, and where to look for another error.

use std::error::Error;
use std::fmt::{self, Display, Write as _};
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::Level;
use super::client::Carried;
use crate::adapters::known::{self, MAX_LINKS, as_type, links};
use crate::classify::{Assessment, Retryable, Verdict, VerdictAnswer};
use crate::opaque::opaque;

pub(crate) type BoxedError = Box<dyn Error + Send + Sync>;

/// What a call keeps of an error: the error.
#[derive(Debug)]
pub struct Kept<E>(pub(crate) E);

/// The last error of a run, or of a function without limits that has a `before_retry`. The caller gets it if what follows ends too
/// late. It is not a source, because it need not convert into one.
#[derive(Debug)]
pub struct Last<E>(pub(crate) E);

/// What a call keeps of an error: nothing.
#[derive(Debug)]
pub enum Nothing {}

/// Keeps an error, or drops it, before the call waits for the next attempt.
pub type Keeps<E, K> = fn(E) -> Option<K>;

/// What is kept of an error that `before_retry` sees.
pub trait Lends {
    /// The error.
    type Error;

    /// Returns the error.
    fn error(&self) -> &Self::Error;
}

macro_rules! lends {
    ($($Kept:ident)+) => {$(
        impl<E> Lends for $Kept<E> {
            type Error = E;

            fn error(&self) -> &E {
                &self.0
            }
        }
    )+};
}

lends! { Kept Last Carried }

impl Lends for Nothing {
    type Error = ();

    fn error(&self) -> &() {
        match *self {}
    }
}

/// An error that an attempt returned, which generated code asks. `E` can be any type: a concrete type, an alias, a type parameter
/// with or without the bound.
///
/// ```text
/// // Output:                                 E                                        else
/// error.assessment()     // its verdict      Retryable                                Assessment::UNKNOWN
/// error.kept()           // Kept<E>          Send, and converts into a boxed error    Nothing
/// error.words()          // its text         Error, or Display                        the name of its type
/// error.search::<A>()    // where to look    Error, or a level below                  itself
/// ```
///
/// Method lookup chooses: the method here if `E` has the bound, else that of the next level that has one. rustc checks each level on
/// the way in each function, so the answers for all other types are as far in front as they can be. The `kept` of an error of
/// a client is here, too (see `client`).
///
/// Method lookup ignores lifetimes, so generated code must not call `kept` if the error type borrows.
pub type Failed<'e, E> = Level<SyncChain<'e, E>>;

/// An error that refers to a `Send + Sync` error, such as `anyhow::Error`.
pub(super) type SyncChain<'a, E> = Level<SendChain<'a, E>>;

/// One that refers to a `Send` error. This level and the next three have only `search`, and here are the last answers to `kept`,
/// `last` and `words`.
pub(super) type SendChain<'a, E> = Level<LocalChain<'a, E>>;

/// One that refers to an error which is neither `Send` nor `Sync`.
pub(super) type LocalChain<'a, E> = Level<SyncPointer<'a, E>>;

/// A pointer to a `SyncChain`, such as `Arc<anyhow::Error>`.
pub(super) type SyncPointer<'a, E> = Level<LocalPointer<'a, E>>;

/// A pointer to a `LocalChain`.
type LocalPointer<'a, E> = Level<Chainless<'a, E>>;

/// An error of any type: the last level.
pub struct Chainless<'a, E: ?Sized> {
    error: &'a E,
    /// The attempt may run twice, as `idempotent = true` says.
    pub harmless: bool,
}

impl<'e, E: ?Sized> Failed<'e, E> {
    /// Takes the error of an attempt, which may run twice if that is `harmless`.
    pub const fn new(error: &'e E, harmless: bool) -> Self {
        let in_pointer = Level(Level(Chainless { error, harmless }));
        Level(Level(Level(Level(in_pointer))))
    }

    /// Returns the error.
    pub fn error(&self) -> &'e E {
        self.error
    }

    /// Keeps nothing of an error that may borrow.
    pub fn dropped(&self) -> Keeps<E, Nothing>
    where
        E: Sized,
    {
        |_| None
    }
}

impl<E: Retryable + ?Sized> Failed<'_, E> {
    /// Asks the error for its verdict.
    pub fn assessment(&self) -> Assessment {
        Assessment::of(self.error)
    }
}

impl<E: ?Sized> SyncChain<'_, E> {
    /// Returns [`Assessment::UNKNOWN`].
    pub fn assessment(&self) -> Assessment {
        Assessment::UNKNOWN
    }
}

impl<E: Send + Into<BoxedError>> SyncChain<'_, E> {
    /// Chooses what is kept of the error.
    pub fn kept(&self) -> Keeps<E, Kept<E>> {
        |error| Some(Kept(error))
    }

    /// Chooses what is kept of an error that `before_retry` sees.
    pub fn held(&self) -> Keeps<E, Kept<E>> {
        |error| Some(Kept(error))
    }
}

impl<E> SendChain<'_, E> {
    /// Keeps no error.
    pub fn kept(&self) -> Keeps<E, Nothing> {
        |_| None
    }

    /// The same.
    pub fn last(&self) -> Keeps<E, Nothing> {
        |_| None
    }

    /// Chooses the error itself, which is no source.
    pub fn held(&self) -> Keeps<E, Last<E>> {
        |error| Some(Last(error))
    }

    /// Chooses the error itself, which may borrow.
    pub fn lent(&self) -> Keeps<E, Last<E>> {
        |error| Some(Last(error))
    }
}

impl<E: Send> SyncChain<'_, E> {
    /// Chooses the error itself.
    pub fn last(&self) -> Keeps<E, Last<E>> {
        |error| Some(Last(error))
    }
}

impl<E: Error> Failed<'_, E> {
    /// Returns the text of the error and of its causes, from the outside in.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: Error> Display for Failed<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_chain(self.error, f)
    }
}

/// Writes an error and its causes, from the outside in.
pub(crate) fn write_chain<E: Error + ?Sized>(error: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

impl<E: Display + ?Sized> SyncChain<'_, E> {
    /// Returns the error in the alternate form `{:#}`, in which `anyhow::Error` and `eyre::Report` add their causes.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: Display + ?Sized> Display for SyncChain<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl<E: ?Sized> SendChain<'_, E> {
    /// Returns the name of the error's type.
    pub fn words(&self) -> &dyn Display {
        self
    }
}

impl<E: ?Sized> Display for SendChain<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<E>())
    }
}

/// The search for errors of type `A` in an error of type `E` that has a chain.
///
/// Method lookup finds `search` at the first of these levels of a [`Failed`]:
///
/// 1. `E: Error`: `E` itself, then its chain of sources;
/// 2. `E: AsRef<dyn Error + …>`, such as `anyhow::Error`, `eyre::Report` and `Box<dyn Error + …>`: the
///    chain of the error inside;
/// 3. a pointer to such a type, such as `Arc<anyhow::Error>`: the same;
/// 4. any other `E`, which has no chain: [`Itself`].
///
/// Then it finds `find` and `contains` in the chain if `A: Error`. If not, `A` has to be `E` itself, such as `anyhow::Error`,
/// also in a `Box`, an `Rc` or an `Arc`. Any other `A` is a compile error, with the message of [`Inside`].
///
/// `find` returns the verdict of the first `A` that is not permanent, where an `A` that is not `Retryable` is unknown. It returns
/// `None` if an error in the chain has the last word: a permanently [stopped](crate::Stopped) call, or a commit that may have
/// taken effect.
///
/// An `E: Error` that borrows, or a type parameter without `'static`, gives a lifetime error from rustc. Such
/// an error cannot be searched; use `when`.
///
/// ```text
/// // Output:                                 A as typed
/// error.search::<A>().find()
/// error.search::<A>().contains()
/// ```
///
/// The name of the method has the span of `A` as typed, so rustc reports there an `A` that is not in `E`.
pub type Search<'a, E, A> = Level<SearchUnknown<'a, E, A>>;

/// The search for errors of type `A`, which have no verdict.
pub(super) type SearchUnknown<'a, E, A> = Level<SearchItself<'a, E, A>>;

/// The search for errors of type `A` that are an `E` themselves.
pub type SearchItself<'a, E, A> = Level<Itself<'a, E, A>>;

/// The search for errors of type `A` that are an `E` themselves.
pub struct Itself<'a, E: ?Sized, A> {
    error: &'a E,
    /// Where the chain starts, if there is one.
    first: Option<&'a (dyn Error + 'static)>,
    harmless: bool,
    looked_for: PhantomData<fn(&A)>,
}

/// Implements the search at a level whose errors have the chain that starts with `$first`.
macro_rules! has_chain {
    ($level:ident, $E:ident: [$($bound:tt)+], |$error:ident| $first:expr) => {
        impl<'e, $E: $($bound)+> $level<'e, $E> {
            /// Searches the error for errors of type `A`.
            pub fn search<A>(&self) -> Search<'e, $E, A> {
                let failed: &Chainless<'_, _> = self;
                let $error = failed.error;
                let first = Some($first as _);
                Level(Level(SearchItself::new(failed, first)))
            }
        }
    };
}

has_chain!(Failed, E: [Error + 'static], |error| error);
has_chain!(SyncChain, E: [AsRef<dyn Error + Send + Sync>], |error| error.as_ref());
has_chain!(SendChain, E: [AsRef<dyn Error + Send>], |error| error.as_ref());
has_chain!(LocalChain, E: [AsRef<dyn Error>], |error| error.as_ref());
has_chain!(SyncPointer, E: [Deref<Target: AsRef<dyn Error + Send + Sync>>], |error| (**error).as_ref());
has_chain!(LocalPointer, E: [Deref<Target: AsRef<dyn Error>>], |error| (**error).as_ref());

impl<'e, E: ?Sized> Chainless<'e, E> {
    /// Searches the error for errors of type `A`.
    pub fn search<A>(&self) -> SearchItself<'e, E, A> {
        SearchItself::new(self, None)
    }
}

impl<E, A: Error + Retryable + 'static> Search<'_, E, A> {
    /// Returns the verdict of the first `A` inside that is not permanent.
    pub fn find(&self) -> Option<Assessment> {
        find_in::<A>(self.first?, self.harmless, Assessment::of)
    }
}

impl<E, A: Error + 'static> SearchUnknown<'_, E, A> {
    /// Returns [`Assessment::UNKNOWN`] if an `A` is inside.
    pub fn find(&self) -> Option<Assessment> {
        find_in::<A>(self.first?, self.harmless, |_| Assessment::UNKNOWN)
    }

    /// Returns whether an `A` is inside.
    pub fn contains(&self) -> bool {
        self.first.is_some_and(contained_in::<A>)
    }
}

impl<'a, E: ?Sized, A> SearchItself<'a, E, A> {
    const fn new(failed: &Chainless<'a, E>, first: Option<&'a (dyn Error + 'static)>) -> Self {
        Level(Itself {
            error: failed.error,
            first,
            harmless: failed.harmless,
            looked_for: PhantomData,
        })
    }
}

impl<E> SearchItself<'_, crate::Error<E>, ()> {
    /// Calls the `verdict` of the attribute for the error inside.
    pub fn asked<A: VerdictAnswer>(&self, f: impl FnOnce(&E) -> A) -> Assessment {
        match self.error {
            crate::Error::Failed(error) => self.0.asked(|_| f(error)),
            crate::Error::Stopped(stopped) => Assessment::of(stopped),
        }
    }
}

impl<E: ?Sized> Itself<'_, E, ()> {
    /// Calls the `verdict` of the attribute, unless an error in the chain has the last word. The bound of `f` gives a closure the
    /// type of its argument.
    #[inline]
    pub fn asked<A: VerdictAnswer>(&self, f: impl FnOnce(&E) -> A) -> Assessment {
        let last_word = self.first.and_then(known::last_word);
        last_word.unwrap_or_else(|| f(self.error).into_assessment())
    }
}

impl<E: ?Sized, A: Retryable + Inside<E>> SearchItself<'_, E, A> {
    /// Returns the verdict of the error, unless it is permanent, or an error in the chain has the last word.
    pub fn find(&self) -> Option<Assessment> {
        self.found(Assessment::of)
    }
}

impl<E: ?Sized, A> Itself<'_, E, A> {
    /// Returns [`Assessment::UNKNOWN`], unless an error in the chain has the last word.
    // The bound is here and not on the `impl`, so that rustc reports the bound, with the message of
    // `Inside`, and not a missing method.
    pub fn find(&self) -> Option<Assessment>
    where
        A: Inside<E>,
    {
        self.found(|_| Assessment::UNKNOWN)
    }

    fn found(&self, ask: fn(&A) -> Assessment) -> Option<Assessment>
    where
        A: Inside<E>,
    {
        let may_search = |first| known::may_search(first, self.harmless, |_| ());
        let itself = A::inside(self.error);
        let found = self.first.is_none_or(may_search).then_some(itself)?;
        unless_permanent(found, ask)
    }

    /// Returns true. The call compiles only if the error is an `A`.
    pub fn contains(&self) -> bool
    where
        A: Inside<E>,
    {
        true
    }
}

/// Searches the chain that starts with `first`, the error of an attempt that may run twice if that is `harmless`.
// A function pointer, not `impl Fn`. Each closure has its own type, so the search would be compiled more often.
#[cold]
#[inline(never)]
pub(crate) fn find_in<A: Error + 'static>(
    first: &(dyn Error + 'static),
    harmless: bool,
    ask: fn(&A) -> Assessment,
) -> Option<Assessment> {
    let mut found = None;
    // The search goes on after an error that is permanent.
    let may_search = known::may_search(first, harmless, |link| {
        found = found.or_else(|| unless_permanent(as_type::<A>(link)?, ask));
    });
    found.filter(|_| may_search)
}

/// Another attempt does not help against a permanent error, even if `on` names its type.
fn unless_permanent<A>(found: &A, ask: fn(&A) -> Assessment) -> Option<Assessment> {
    let assessment = ask(found);
    (assessment.verdict != Verdict::Permanent).then_some(assessment)
}

#[cold]
#[inline(never)]
fn contained_in<A: Error + 'static>(first: &(dyn Error + 'static)) -> bool {
    links(first).any(|link| as_type::<A>(link).is_some())
}

/// An error type that can be in an `E` without a chain of sources.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can never be found inside `{E}`",
    label = "no `{Self}` is ever inside `{E}`",
    note = "the search follows `source()` if both types implement `std::error::Error`, and looks inside `anyhow::Error`, `eyre::Report` and `Box<dyn Error>`",
    note = "implement `std::error::Error` and its `source()`, or use `when = \"…\"`, or derive `Retryable` for `{E}`, if that is your own type",
    note = "`anyhow::Error` and `Box<dyn Error + Send + Sync>` can hold a `Stopped`: return them without a `reattempt::Error` around them"
)]
pub trait Inside<E: ?Sized> {
    /// Returns the error as a `Self`.
    fn inside(error: &E) -> &Self;
}

macro_rules! inside {
    ($($E:ty),+) => {$(
        impl<A> Inside<$E> for A {
            fn inside(error: &$E) -> &Self {
                error
            }
        }
    )+};
}

inside!(A, Box<A>, Arc<A>, Rc<A>);

opaque! {
    Chainless [E: ?Sized] ['_, E];
    Itself [E: ?Sized, A] ['_, E, A];
}

#[cfg(test)]
mod tests;
