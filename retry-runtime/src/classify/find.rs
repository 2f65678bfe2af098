//! The search of `on` and `not_on`: an error of one type inside an error of another.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::links::{Links, as_type, is_last, is_stopped_for_good};
use super::verdict::{Said, Verdict};

/// Looks for errors of type `A` in an error of type `E`.
///
/// Which walk is right for `E` is chosen by method lookup, from the outside in along `Deref`, at the
/// place where the call is written:
///
/// 1. `E: Error` (and `A: Error`): the whole chain of causes, `E` itself first;
/// 2. `E: AsRef<dyn Error + …>`, as `anyhow::Error`, `eyre::Report` and `Box<dyn Error + …>` are: the
///    chain of what is in it;
/// 3. a pointer to such a type, as `Arc<anyhow::Error>`: the same;
/// 4. any other: only `E` itself, also boxed or shared. An `A` that it is not does not compile
///    ([`Inside`] words the message).
///
/// Inside of a call that was [stopped](crate::Stopped) for good nothing is found: the error that it keeps
/// as its cause has had its attempts.
///
/// Method lookup does not look at lifetimes, so `'static` cannot be chosen on: an `E: Error` that
/// borrows, or a type parameter without `'static`, is rustc's error about a lifetime. Such an error
/// cannot be searched at all; `matches` and `when` are for it.
///
/// ```text
/// // Output:                                                    error: &E, A as typed
/// $root::__private::Find::<_, A>::new(error).find(|link| $root::__private::Probe::new(link).said())
/// $root::__private::Find::<_, A>::new(error).contains()
/// ```
///
/// The method's name carries the span of `A` as typed: that is where rustc reports case 4.
pub struct Find<'a, E, A>(Shared<'a, E, A>);

/// Case 2, thread-safe.
pub struct Shared<'a, E, A>(Sent<'a, E, A>);

/// Case 2, `Send` only.
pub struct Sent<'a, E, A>(Local<'a, E, A>);

/// Case 2, neither.
pub struct Local<'a, E, A>(Pointer<'a, E, A>);

/// Case 3, thread-safe.
pub struct Pointer<'a, E, A>(LocalPointer<'a, E, A>);

/// Case 3, not thread-safe.
pub struct LocalPointer<'a, E, A>(Itself<'a, E, A>);

/// Case 4.
pub struct Itself<'a, E, A>(&'a E, PhantomData<fn(&A)>);

impl<'a, E, A> Find<'a, E, A> {
    /// Takes the error to be searched.
    #[inline]
    pub const fn new(error: &'a E) -> Self {
        Self(Shared(Sent(Local(Pointer(LocalPointer(Itself(
            error,
            PhantomData,
        )))))))
    }
}

impl<E: Error + 'static, A: Error + 'static> Find<'_, E, A> {
    /// What the first `A` that does not call itself permanent says of itself.
    // A function pointer, not `impl Fn`: each annotated function has a closure of its own type, and the
    // search would be compiled again for each.
    #[inline]
    pub fn find(&self, said: fn(&A) -> Said) -> Option<Said> {
        let error: &E = self.error();
        match itself(error) {
            Some(itself) if is_last(error) => Some(said(itself)).filter(qualifies),
            _ => find_in(error, said),
        }
    }

    /// Whether an `A` is inside.
    #[must_use]
    #[inline]
    pub fn contains(&self) -> bool {
        let error: &E = self.error();
        itself::<E, A>(error).is_some() || contained_in::<A>(error)
    }
}

/// The two questions, asked of the chain that starts with `$first`.
macro_rules! searches_chain {
    ($level:ident, $E:ident: [$($bound:tt)+], |$error:ident| $first:expr) => {
        impl<$E: $($bound)+, A: Error + 'static> $level<'_, $E, A> {
            /// What the first `A` that does not call itself permanent says of itself.
            #[inline]
            pub fn find(&self, said: fn(&A) -> Said) -> Option<Said> {
                let $error: &$E = self.error();
                find_in($first, said)
            }

            /// Whether an `A` is inside.
            #[must_use]
            #[inline]
            pub fn contains(&self) -> bool {
                let $error: &$E = self.error();
                contained_in::<A>($first)
            }
        }
    };
}

searches_chain!(Shared, E: [AsRef<dyn Error + Send + Sync>], |error| error.as_ref());
searches_chain!(Sent, E: [AsRef<dyn Error + Send>], |error| error.as_ref());
searches_chain!(Local, E: [AsRef<dyn Error>], |error| error.as_ref());
searches_chain!(Pointer, E: [Deref<Target: AsRef<dyn Error + Send + Sync>>], |error| (**error).as_ref());
searches_chain!(LocalPointer, E: [Deref<Target: AsRef<dyn Error>>], |error| (**error).as_ref());

impl<'a, E, A> Itself<'a, E, A> {
    /// What the error says of itself, unless it calls itself permanent.
    // The bound stands here, not on the `impl`: so rustc reports the bound, with our words, instead
    // of a method that does not exist.
    #[inline]
    pub fn find(&self, said: fn(&A) -> Said) -> Option<Said>
    where
        A: Inside<E>,
    {
        Some(said(A::inside(self.0))).filter(qualifies)
    }

    /// True: the error is an `A`, or this would not have compiled.
    #[must_use]
    #[inline]
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

/// An error type that an `E`, which is no chain of causes, can be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can never be found inside `{E}`",
    label = "no `{Self}` is ever inside `{E}`",
    note = "causes are looked for where both are `std::error::Error`s, and in `anyhow::Error`, `eyre::Report` and `Box<dyn Error>`",
    note = "implement `std::error::Error` and its `source()`, or use `matches = \"…\"` or `when = \"…\"`, or derive `Retryable` for `{E}`"
)]
pub trait Inside<E> {
    /// Sees the error as a `Self`.
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

/// The error as an `A`, where both are the same type. The compiler decides, once for each pair.
#[inline]
fn itself<E: 'static, A: 'static>(error: &E) -> Option<&A> {
    (error as &dyn Any).downcast_ref()
}

#[cold]
#[inline(never)]
fn find_in<A: Error + 'static>(
    first: &(dyn Error + 'static),
    said: fn(&A) -> Said,
) -> Option<Said> {
    walk(first, &|link| {
        as_type::<A>(link).map(said).filter(qualifies)
    })
}

/// The first answer in the chain, unless a call inside was stopped for good.
fn walk(
    first: &(dyn Error + 'static),
    ask: &dyn Fn(&(dyn Error + 'static)) -> Option<Said>,
) -> Option<Said> {
    let mut found = None;
    for link in Links::of(first) {
        if is_stopped_for_good(link) {
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
    for link in Links::of(first) {
        if as_type::<A>(link).is_some() {
            return true;
        }
    }
    false
}

/// What calls itself permanent is not cured by another attempt, whoever vouches for its type.
fn qualifies(said: &Said) -> bool {
    said.verdict != Verdict::Permanent
}

macro_rules! deref_to_next {
    ($($level:ident => $next:ident),+ $(,)?) => {$(
        impl<'a, E, A> Deref for $level<'a, E, A> {
            type Target = $next<'a, E, A>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<E, A> fmt::Debug for $level<'_, E, A> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

deref_to_next!(
    Find => Shared,
    Shared => Sent,
    Sent => Local,
    Local => Pointer,
    Pointer => LocalPointer,
    LocalPointer => Itself,
);

impl<E, A> fmt::Debug for Itself<'_, E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither type need be `Debug`.
        let (looked_for, inside) = (std::any::type_name::<A>(), std::any::type_name::<E>());
        write!(f, "{looked_for} in {inside}")
    }
}
