//! What each attempt gets of an argument that the body hands over: a clone or a reference.

mod blocking;

use std::ops::DerefMut;

pub use self::blocking::handed_over;

/// An argument that the body hands over. Each attempt gets a clone if its type is `Clone`, else a reference.
///
/// ```text
/// Output: Argument::new(&x).for_each_attempt()
/// ```
pub struct Argument<'a, T>(Lent<'a, T>);

/// An argument whose type is not `Clone`.
pub struct Lent<'a, T>(Unshared<'a, T>);

/// An argument whose type is neither `Clone` nor `Sync`.
pub struct Unshared<'a, T>(LentLocally<'a, T>);

/// An argument whose type is not `Clone`, `Sync` or `Send`. It never leaves its thread.
#[derive(Debug)]
pub struct LentLocally<'a, T>(&'a T);

impl<'a, T> Argument<'a, T> {
    /// Takes the argument as the caller passed it.
    #[inline]
    #[must_use]
    pub const fn new(argument: &'a T) -> Self {
        Self(Lent(Unshared(LentLocally(argument))))
    }
}

impl<T: Clone> Argument<'_, T> {
    /// Clones the argument.
    #[inline]
    #[must_use]
    pub fn for_each_attempt(&self) -> T {
        self.0.0.0.0.clone()
    }

    /// Clones the argument, even if a reference would do.
    #[inline]
    #[must_use]
    pub fn own_or_lent(&self) -> T {
        self.own()
    }

    /// Clones an argument that each attempt must own.
    #[inline]
    #[must_use]
    pub fn own(&self) -> T {
        self.0.0.0.0.clone()
    }

    /// Clones an argument that each attempt must own, and that is rarely `Clone`.
    #[inline]
    #[must_use]
    pub fn own_made(&self) -> T {
        self.own()
    }

    /// Clones `self`, which each attempt must own.
    #[inline]
    #[must_use]
    pub fn own_self(&self) -> T {
        self.own()
    }

    /// Clones a `mut self`.
    #[inline]
    #[must_use]
    pub fn own_mut_self(&self) -> T {
        self.own()
    }

    /// Accepts that the body moves a field: each attempt moves it out of its own clone.
    #[inline]
    #[must_use]
    pub const fn spares<F>(&self, _: &F) -> Spared {
        Spared
    }
}

impl<'a, T> Lent<'a, T> {
    /// Lends the argument. Generated code calls this if a reference has the bounds of the argument's type.
    #[inline]
    #[must_use]
    pub const fn lend(&self) -> &'a T {
        self.0.0.0
    }

    /// Refuses the argument: each attempt must own it, and its type is not `Clone`.
    #[inline]
    #[must_use]
    #[rustfmt::skip]
    pub fn own(&self) -> T where Each: ForEachAttempt<T> { Each::own(self.0.0.0) }

    /// Refuses the argument: each attempt must own it, and it can only be made anew.
    #[inline]
    #[must_use]
    #[rustfmt::skip]
    pub fn own_made(&self) -> T where Each: MadeForEachAttempt<T> { Each::own_made(self.0.0.0) }

    /// Refuses `self`: each attempt must own it, and its type is not `Clone`.
    #[inline]
    #[must_use]
    #[rustfmt::skip]
    pub fn own_self(&self) -> T where Each: FindsSelfAgain<T> { Each::own_self(self.0.0.0) }

    /// Refuses a `mut self`: each attempt must own it, and its type is not `Clone`.
    #[inline]
    #[must_use]
    #[rustfmt::skip]
    pub fn own_mut_self(&self) -> T where Each: StartsAnew<T> { Each::own_mut_self(self.0.0.0) }

    /// Takes a field that the body moves. [`Field`] decides whether the next attempt still has it.
    #[inline]
    #[must_use]
    pub const fn spares<'f, F>(&self, field: &'f F) -> Field<'f, F> {
        Field::new(field)
    }
}

impl<'a, T: Sync> Lent<'a, T> {
    /// Lends the argument.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0.0.0
    }
}

impl<T: Send> Unshared<'_, T> {
    /// Refuses to lend the argument. The future would not be `Send`, but the future of the plain function is. The value
    /// has the type of the argument, so that the body causes no second error.
    #[inline]
    #[must_use]
    #[rustfmt::skip]
    pub fn for_each_attempt(&self) -> T where Each: LentAcrossThreads<T> { Each::lend(self.0.0) }
}

impl<T> Unshared<'_, T> {
    /// Refuses the argument: a reference does not have the bounds of its type.
    #[inline]
    #[must_use]
    #[rustfmt::skip]
    pub fn own_or_lent(&self) -> T where Each: ForEachAttempt<T> { Each::own(self.0.0) }
}

impl<'a, T> LentLocally<'a, T> {
    /// Lends the argument.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0
    }
}

/// An argument of which the body may move fields. Each attempt gets a clone if its type is `Clone`. If not, it gets a
/// unique reference, through which the body copies or reborrows a field.
///
/// ```text
/// Output: let mut parts = Parts::new(&mut x);
///         let mut x = parts.for_each_attempt();
/// ```
pub struct Parts<'a, T>(LentParts<'a, T>);

/// [`Parts`] of an argument whose type is not `Clone`.
#[derive(Debug)]
pub struct LentParts<'a, T>(&'a mut T);

impl<'a, T> Parts<'a, T> {
    /// Takes the argument as the caller passed it.
    #[inline]
    #[must_use]
    pub const fn new(argument: &'a mut T) -> Self {
        Self(LentParts(argument))
    }
}

impl<T: Clone> Parts<'_, T> {
    /// Clones the argument.
    #[inline]
    #[must_use]
    pub fn for_each_attempt(&mut self) -> T {
        self.0.0.clone()
    }
}

impl<T> LentParts<'_, T> {
    /// Lends the argument.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&mut self) -> &mut T {
        self.0
    }
}

/// A field that the body moves out of an argument that is not cloned.
///
/// ```text
/// Output: Field::new(&x.field).again()
/// ```
pub struct Field<'f, F>(Reborrowed<'f, F>);

/// A moved field whose type is not `Copy`.
pub struct Reborrowed<'f, F>(Gone<'f, F>);

/// A moved field whose type is neither `Copy` nor `&mut`. The next attempt does not have it.
#[derive(Debug)]
pub struct Gone<'f, F>(#[expect(dead_code, reason = "only its type is used")] &'f F);

/// A field that the body moves out of a clone of the argument.
#[derive(Debug)]
pub struct Spared;

impl Spared {
    /// Accepts the field.
    #[inline]
    pub const fn again(&self) {}
}

impl<'f, F> Field<'f, F> {
    /// Takes the field as the caller passed it.
    #[inline]
    #[must_use]
    pub const fn new(field: &'f F) -> Self {
        Self(Reborrowed(Gone(field)))
    }
}

impl<F: Copy> Field<'_, F> {
    /// Accepts the field: the body copies it.
    #[inline]
    pub const fn again(&self) {}

    /// Tells that the argument stays intact.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> Intact {
        Intact
    }
}

impl<F: ?Sized> Reborrowed<'_, &mut F> {
    /// Accepts the field: the body reborrows it.
    #[inline]
    pub const fn again(&self) {}

    /// Tells that the argument stays intact.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> Intact {
        Intact
    }
}

impl<F> Gone<'_, F> {
    /// Refuses the field: the next attempt would not have it.
    #[inline]
    #[rustfmt::skip]
    pub const fn again(&self) where Each: FindsAgain<F> {}

    /// Tells that the argument misses the field.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> Broken {
        Broken
    }
}

/// What a body leaves of an argument whose fields it copies or reborrows.
#[derive(Debug, Clone, Copy)]
pub struct Intact;

/// What a body leaves of an argument of which it moves a field.
#[derive(Debug, Clone, Copy)]
pub struct Broken;

impl Intact {
    /// Adds what another field leaves.
    #[inline]
    #[must_use]
    pub const fn with<L: Copy>(self, left: L) -> L {
        left
    }

    /// Lends the argument to each attempt.
    #[inline]
    #[must_use]
    pub const fn parts<T>(self, argument: &mut T) -> LentParts<'_, T> {
        LentParts(argument)
    }
}

impl Broken {
    /// Adds what another field leaves.
    #[inline]
    #[must_use]
    pub const fn with<L: Copy>(self, _: L) -> Self {
        self
    }

    /// Clones the argument for each attempt.
    #[inline]
    #[must_use]
    pub const fn parts<T>(self, argument: &mut T) -> Parts<'_, T> {
        Parts::new(argument)
    }
}

levels! {
    ['a, T] Argument<'a, T> => Lent<'a, T>;
    ['a, T] Lent<'a, T> => Unshared<'a, T>;
    ['a, T] Unshared<'a, T> => LentLocally<'a, T>;
    ['a, T] Parts<'a, T> => LentParts<'a, T>;
    ['f, F] Field<'f, F> => Reborrowed<'f, F>;
    ['f, F] Reborrowed<'f, F> => Gone<'f, F>;
}

impl<T> DerefMut for Parts<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The type that a refusal bounds, as in `Each: ForEachAttempt<T>`. It implements none of these traits, so each such
/// bound is an error. The bound is not on `T`, so rustc does not propose to add it to the user's function. rustc quotes
/// the lines of the method below its message, so the method has one line.
#[derive(Debug)]
pub struct Each;

/// Each attempt can own a value of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{T}` is used up by the first attempt, and it is not `Clone`",
    label = "value used more than once: every attempt starts from this argument",
    note = "borrow it (`&{T}`), share it (`Arc<{T}>`), or make it `Clone`: derive that, or add it as a bound",
    note = "`#[retry(clone())]` clones no argument: each attempt borrows this one instead"
)]
pub trait ForEachAttempt<T> {
    /// Returns a value for the next attempt.
    #[must_use]
    fn own(argument: &T) -> T;
}

/// Each attempt can own a value of type `T`, which can only be made anew: an iterator, a receiver, the body of a request.
#[diagnostic::on_unimplemented(
    message = "`{T}` is used up by the first attempt, and it is not `Clone`",
    label = "value used more than once: every attempt starts from this argument",
    note = "make it inside the function, or take a function that makes it: `impl Fn() -> …`",
    note = "if it is generic, you can also add the bound `+ Clone`"
)]
pub trait MadeForEachAttempt<T> {
    /// Returns a value for the next attempt.
    #[must_use]
    fn own_made(argument: &T) -> T;
}

/// Each attempt has a field of type `F`, although the body moves it.
#[diagnostic::on_unimplemented(
    message = "a field of type `{F}` is moved out of an argument, and each attempt needs it again",
    label = "gone after the first attempt",
    note = "write `.clone()` here, or take it by reference",
    note = "each attempt gets a clone of an argument whose type is `Clone`"
)]
pub trait FindsAgain<F> {}

/// Each attempt has a `self` of type `T`, although the body moves it.
#[diagnostic::on_unimplemented(
    message = "`self` is moved, and each attempt needs it again: `{T}` is not `Clone`",
    label = "gone after the first attempt",
    note = "make `{T}` `Clone`, or take `&self`",
    note = "to retry only what comes before, move that into an async function of its own"
)]
pub trait FindsSelfAgain<T> {
    /// Returns a `self` for the next attempt.
    #[must_use]
    fn own_self(argument: &T) -> T;
}

/// Each attempt can change its own `self` of type `T`.
#[diagnostic::on_unimplemented(
    message = "`mut self` would carry the changes of a failed attempt into the next",
    label = "`{T}` is not `Clone`, so each attempt would have the same `self`",
    note = "make `{T}` `Clone`, take `&mut self`, or write `clone()` in the attribute to allow it"
)]
pub trait StartsAnew<T> {
    /// Returns a `self` for the next attempt.
    #[must_use]
    fn own_mut_self(argument: &T) -> T;
}

/// Attempts that run on different threads can borrow a value of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{T}` is lent to each attempt and is not `Sync`, so the future would not be `Send`",
    label = "every attempt starts from this argument, which is not `Clone`",
    note = "add `+ Sync` to its bounds, make it `Clone`, share it (`Arc<Mutex<{T}>>`), or take it by reference"
)]
pub trait LentAcrossThreads<T> {
    /// Returns a value for the next attempt.
    #[must_use]
    fn lend(argument: &T) -> T;
}
