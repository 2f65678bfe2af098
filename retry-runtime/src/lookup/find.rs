//! The search for `on` and `unless`: an error of one type inside an error of another.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::{Failed, Level, Probe};
use crate::adapters::known;
use crate::classify::{Links, Said, Verdict, as_type};

/// Searches an error of type `E` for errors of type `A`.
///
/// Method lookup tries these levels in turn:
///
/// 1. `E: Error` (and `A: Error`): `E` itself, then its chain of sources;
/// 2. `E: AsRef<dyn Error + …>`, such as `anyhow::Error`, `eyre::Report` and `Box<dyn Error + …>`: the
///    chain of the error inside;
/// 3. a pointer to such a type, such as `Arc<anyhow::Error>`: the same;
/// 4. `E` as in 2 and 3, if `A` is `E` itself, such as `anyhow::Error`: every `E`;
/// 5. any other `E`: only `E` itself, also in a `Box`, an `Rc` or an `Arc`. Any other `A` is a compile
///    error, with the message of [`Inside`].
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
pub type Find<'a, E, A> = Level<SyncChain<'a, E, A>>;

/// Level 2, `Send + Sync`.
type SyncChain<'a, E, A> = Level<SendChain<'a, E, A>>;

/// Level 2, `Send`.
type SendChain<'a, E, A> = Level<LocalChain<'a, E, A>>;

/// Level 2, neither `Send` nor `Sync`.
type LocalChain<'a, E, A> = Level<SyncPointer<'a, E, A>>;

/// Level 3, `Send + Sync`.
type SyncPointer<'a, E, A> = Level<LocalPointer<'a, E, A>>;

/// Level 3, neither `Send` nor `Sync`.
type LocalPointer<'a, E, A> = Level<SyncWhole<'a, E, A>>;

/// Level 4, `Send + Sync`.
type SyncWhole<'a, E, A> = Level<SendWhole<'a, E, A>>;

/// Level 4, `Send`.
type SendWhole<'a, E, A> = Level<LocalWhole<'a, E, A>>;

/// Level 4, neither `Send` nor `Sync`.
type LocalWhole<'a, E, A> = Level<SyncPointed<'a, E, A>>;

/// Level 4, a pointer, `Send + Sync`.
type SyncPointed<'a, E, A> = Level<LocalPointed<'a, E, A>>;

/// Level 4, a pointer, neither `Send` nor `Sync`.
type LocalPointed<'a, E, A> = Level<Itself<'a, E, A>>;

/// Level 5.
pub struct Itself<'a, E, A>(&'a E, PhantomData<fn(&A)>);

impl<'e, E> Failed<'e, E> {
    /// Searches the error for errors of type `A`.
    pub fn search<A>(&self) -> Find<'e, E, A> {
        Find::new(self.error())
    }
}

impl<'a, E, A> Find<'a, E, A> {
    /// Takes the error to search.
    pub const fn new(error: &'a E) -> Self {
        let itself = Itself(error, PhantomData);
        let whole = Level(Level(Level(Level(Level(itself)))));
        Level(Level(Level(Level(Level(Level(whole))))))
    }
}

impl<E: Error + 'static, A: Error + 'static> Find<'_, E, A> {
    /// Returns the answer of the first `A` that is not permanent.
    // A function pointer, not `impl Fn`. Each closure has its own type, so the search would be compiled
    // again for each annotated function.
    pub fn find(&self, said: fn(&Probe<'_, A>) -> Said) -> Option<Said> {
        let error: &E = self.error();
        match itself(error) {
            Some(itself) if is_bare_io(error) => Some(said(&Probe::new(itself))).filter(qualifies),
            _ => find_in(error, said),
        }
    }

    /// Returns whether an `A` is inside.
    pub fn contains(&self) -> bool {
        let error: &E = self.error();
        itself::<E, A>(error).is_some() || contained_in::<A>(error)
    }
}

/// Implements both searches in the chain that starts with `$first`.
macro_rules! searches_chain {
    ($level:ident, $E:ident: [$($bound:tt)+], |$error:ident| $first:expr) => {
        impl<$E: $($bound)+, A: Error + 'static> $level<'_, $E, A> {
            /// Returns the answer of the first `A` that is not permanent.
            pub fn find(&self, said: fn(&Probe<'_, A>) -> Said) -> Option<Said> {
                let $error: &$E = self.error();
                find_in($first, said)
            }

            /// Returns whether an `A` is inside.
            pub fn contains(&self) -> bool {
                let $error: &$E = self.error();
                contained_in::<A>($first)
            }
        }
    };
}

searches_chain!(SyncChain, E: [AsRef<dyn Error + Send + Sync>], |error| error.as_ref());
searches_chain!(SendChain, E: [AsRef<dyn Error + Send>], |error| error.as_ref());
searches_chain!(LocalChain, E: [AsRef<dyn Error>], |error| error.as_ref());
searches_chain!(SyncPointer, E: [Deref<Target: AsRef<dyn Error + Send + Sync>>], |error| (**error).as_ref());
searches_chain!(LocalPointer, E: [Deref<Target: AsRef<dyn Error>>], |error| (**error).as_ref());

/// Implements the search for `E` itself, which has the chain that starts with `$first`.
macro_rules! searches_itself {
    ($level:ident, $E:ident: [$($bound:tt)+], |$error:ident| $first:expr) => {
        impl<$E: $($bound)+, A: Inside<$E>> $level<'_, $E, A> {
            /// Returns the answer of the error, unless it is permanent.
            pub fn find(&self, said: fn(&Probe<'_, A>) -> Said) -> Option<Said> {
                let $error: &$E = self.error();
                match known::last_word($first) {
                    Some(_) => None,
                    None => Some(said(&Probe::new(A::inside($error)))).filter(qualifies),
                }
            }
        }
    };
}

searches_itself!(SyncWhole, E: [AsRef<dyn Error + Send + Sync>], |error| error.as_ref());
searches_itself!(SendWhole, E: [AsRef<dyn Error + Send>], |error| error.as_ref());
searches_itself!(LocalWhole, E: [AsRef<dyn Error>], |error| error.as_ref());
searches_itself!(SyncPointed, E: [Deref<Target: AsRef<dyn Error + Send + Sync>>], |error| (**error).as_ref());
searches_itself!(LocalPointed, E: [Deref<Target: AsRef<dyn Error>>], |error| (**error).as_ref());

impl<'a, E, A> Itself<'a, E, A> {
    /// Returns the answer of the error, unless it is permanent.
    // The bound is here and not on the `impl`, so that rustc reports the bound, with the message of
    // `Inside`, and not a missing method.
    pub fn find(&self, said: fn(&Probe<'_, A>) -> Said) -> Option<Said>
    where
        A: Inside<E>,
    {
        Some(said(&Probe::new(A::inside(self.0)))).filter(qualifies)
    }

    /// Returns true. The call compiles only if the error is an `A`.
    pub fn contains(&self) -> bool
    where
        A: Inside<E>,
    {
        true
    }

    fn error(&self) -> &'a E {
        self.0
    }
}

/// Searches the chain that starts with `first`.
#[cold]
#[inline(never)]
pub(crate) fn find_in<A: Error + 'static>(
    first: &(dyn Error + 'static),
    said: fn(&Probe<'_, A>) -> Said,
) -> Option<Said> {
    walk(first, &|link| {
        as_type::<A>(link)
            .map(|found| said(&Probe::new(found)))
            .filter(qualifies)
    })
}

/// Returns the first answer in the chain, or `None` if an error in the chain has the last word.
fn walk(
    first: &(dyn Error + 'static),
    ask: &dyn Fn(&(dyn Error + 'static)) -> Option<Said>,
) -> Option<Said> {
    let mut found = None;
    for link in Links::of(first) {
        if known::has_last_word(link).is_some() {
            return None;
        }
        // The search goes on after a link that does not qualify.
        found = found.or_else(|| ask(link));
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
pub trait Inside<E> {
    /// Returns the error as a `Self`.
    fn inside(error: &E) -> &Self;
}

impl<A> Inside<A> for A {
    fn inside(error: &A) -> &Self {
        error
    }
}

impl<A> Inside<Box<A>> for A {
    fn inside(error: &Box<A>) -> &Self {
        error
    }
}

impl<A> Inside<Arc<A>> for A {
    fn inside(error: &Arc<A>) -> &Self {
        error
    }
}

impl<A> Inside<Rc<A>> for A {
    fn inside(error: &Rc<A>) -> &Self {
        error
    }
}

/// Returns the error as an `A` if `E` and `A` are the same type. The compiler decides this for each pair.
fn itself<E: 'static, A: 'static>(error: &E) -> Option<&A> {
    (error as &dyn Any).downcast_ref()
}

/// Whether the error is an `io::Error` with no error inside, the most frequent error. It needs no walk. The compiler knows
/// `E`, so it keeps only one of these arms.
fn is_bare_io<E: 'static>(error: &E) -> bool {
    match (error as &dyn Any).downcast_ref::<io::Error>() {
        Some(error) => error.get_ref().is_none(),
        None => false,
    }
}

impl<E, A> fmt::Debug for Itself<'_, E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither type may be `Debug`.
        let (looked_for, inside) = (std::any::type_name::<A>(), std::any::type_name::<E>());
        write!(f, "{looked_for} in {inside}")
    }
}

#[cfg(test)]
mod tests;
