//! The search for `on` and `unless`: an error of one type inside an error of another.

use std::error::Error;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::failed::{LocalChain, LocalPointer, SendChain, SyncChain, SyncPointer};
use super::{Level, Named, Probe};
use crate::adapters::known;
use crate::classify::{Links, Said, Verdict, as_type};
use crate::opaque::opaque;

/// The search for errors of type `A` in an error of type `E` that has a chain.
///
/// Method lookup finds `search` at the first of these levels of a [`Probe`]:
///
/// 1. `E: Error`: `E` itself, then its chain of sources;
/// 2. `E: AsRef<dyn Error + …>`, such as `anyhow::Error`, `eyre::Report` and `Box<dyn Error + …>`: the
///    chain of the error inside;
/// 3. a pointer to such a type, such as `Arc<anyhow::Error>`: the same;
/// 4. any other `E`, which has no chain: [`Itself`].
///
/// Then it finds `find` and `contains` here if `A: Error`. If not, `A` has to be `E` itself, such as `anyhow::Error`, also in a
/// `Box`, an `Rc` or an `Arc`. Any other `A` is a compile error, with the message of [`Inside`].
///
/// `find` returns `None` if an error in the chain has the last word: a permanently
/// [stopped](crate::Stopped) call, or a commit that may have taken effect.
///
/// An `E: Error` that borrows, or a type parameter without `'static`, gives a lifetime error from rustc. Such
/// an error cannot be searched; use `when`.
///
/// ```text
/// // Output:                                 A as typed
/// error.search::<A>().find(|link| link.said())
/// error.search::<A>().contains()
/// ```
///
/// The name of the method has the span of `A` as typed, so rustc reports there an `A` that is not in `E`.
pub type Chain<'a, E, A> = Level<Itself<'a, E, A>>;

/// The search for errors of type `A` that are an `E` themselves.
pub struct Itself<'a, E: ?Sized, A> {
    error: &'a E,
    /// Where the chain starts, if there is one.
    first: Option<&'a (dyn Error + 'static)>,
    looked_for: PhantomData<fn(&A)>,
}

/// Implements the search at a level whose errors have the chain that starts with `$first`.
macro_rules! has_chain {
    ($level:ident, $E:ident: [$($bound:tt)+], |$error:ident| $first:expr) => {
        impl<'e, $E: $($bound)+> $level<'e, $E> {
            /// Searches the error for errors of type `A`.
            pub fn search<A>(&self) -> Chain<'e, $E, A> {
                let $error = self.error();
                Level(Itself::new($error, Some($first)))
            }
        }
    };
}

has_chain!(Probe, E: [Error + 'static], |error| error);
has_chain!(SyncChain, E: [AsRef<dyn Error + Send + Sync>], |error| error.as_ref());
has_chain!(SendChain, E: [AsRef<dyn Error + Send>], |error| error.as_ref());
has_chain!(LocalChain, E: [AsRef<dyn Error>], |error| error.as_ref());
has_chain!(SyncPointer, E: [Deref<Target: AsRef<dyn Error + Send + Sync>>], |error| (**error).as_ref());
has_chain!(LocalPointer, E: [Deref<Target: AsRef<dyn Error>>], |error| (**error).as_ref());

impl<'e, E: ?Sized> Named<'e, E> {
    /// Searches the error for errors of type `A`.
    pub fn search<A>(&self) -> Itself<'e, E, A> {
        Itself::new(self.error(), None)
    }
}

impl<E, A: Error + 'static> Chain<'_, E, A> {
    /// Returns the answer of the first `A` that is not permanent.
    // A function pointer, not `impl Fn`. Each closure has its own type, so the search would be compiled
    // again for each annotated function.
    pub fn find(&self, said: fn(&Probe<'_, A>) -> Said) -> Option<Said> {
        find_in(self.0.first?, said)
    }

    /// Returns whether an `A` is inside.
    pub fn contains(&self) -> bool {
        self.0.first.is_some_and(contained_in::<A>)
    }
}

impl<'a, E: ?Sized, A> Itself<'a, E, A> {
    const fn new(error: &'a E, first: Option<&'a (dyn Error + 'static)>) -> Self {
        Self {
            error,
            first,
            looked_for: PhantomData,
        }
    }

    /// Returns the answer of the error, unless it is permanent.
    // The bound is here and not on the `impl`, so that rustc reports the bound, with the message of
    // `Inside`, and not a missing method.
    pub fn find(&self, said: fn(&Probe<'_, A>) -> Said) -> Option<Said>
    where
        A: Inside<E>,
    {
        match self.first.and_then(known::last_word) {
            Some(_) => None,
            None => Some(said(&Probe::new(A::inside(self.error)))).filter(qualifies),
        }
    }

    /// Returns true. The call compiles only if the error is an `A`.
    pub fn contains(&self) -> bool
    where
        A: Inside<E>,
    {
        true
    }
}

/// Searches the chain that starts with `first`.
#[cold]
#[inline(never)]
pub(crate) fn find_in<A: Error + 'static>(
    first: &(dyn Error + 'static),
    said: fn(&Probe<'_, A>) -> Said,
) -> Option<Said> {
    let mut found = None;
    for link in Links::of(first) {
        if known::has_last_word(link).is_some() {
            return None;
        }
        let said = || Some(said(&Probe::new(as_type::<A>(link)?)));
        // The search goes on after a link that does not qualify.
        found = found.or_else(|| said().filter(qualifies));
    }
    found
}

#[cold]
#[inline(never)]
fn contained_in<A: Error + 'static>(first: &(dyn Error + 'static)) -> bool {
    Links::of(first).any(|link| as_type::<A>(link).is_some())
}

/// Another attempt does not help against a permanent error, even if `on` names its type.
fn qualifies(said: &Said) -> bool {
    said.verdict != Verdict::Permanent
}

/// An error type that can be in an `E` without a chain of sources.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can never be found inside `{E}`",
    label = "no `{Self}` is ever inside `{E}`",
    note = "the search follows `source()` if both types implement `std::error::Error`, and looks inside `anyhow::Error`, `eyre::Report` and `Box<dyn Error>`",
    note = "implement `std::error::Error` and its `source()`, or use `when = \"…\"`, or derive `Retryable` for `{E}`"
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

opaque! { Itself [E: ?Sized, A] ['_, E, A]; }

#[cfg(test)]
mod tests;
