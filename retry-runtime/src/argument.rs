//! What an attempt is given of an argument that the body hands over.
//!
//! The choices are the compiler's: it looks for a method on a type first and then on what the type
//! dereferences to. So generic code gets no new bound.

mod blocking;

use std::ops::{Deref, DerefMut};

pub use self::blocking::handed_over;

/// An argument that the body hands over: a clone where its type is `Clone`, else a reference.
///
/// ```text
/// Output: Argument::new(&x).for_each_attempt()
/// ```
#[derive(Debug)]
pub struct Argument<'a, T>(Lent<'a, T>);

/// What becomes of an argument that is not `Clone`.
#[derive(Debug)]
pub struct Lent<'a, T>(Unshared<'a, T>);

/// What becomes of an argument that is neither `Clone` nor `Sync`.
#[derive(Debug)]
pub struct Unshared<'a, T>(LentLocally<'a, T>);

/// What becomes of an argument that never leaves its thread.
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
    /// Clones it.
    #[inline]
    #[must_use]
    pub fn for_each_attempt(&self) -> T {
        self.0.0.0.0.clone()
    }

    /// Clones it, although a reference might do.
    #[inline]
    #[must_use]
    pub fn own_or_lent(&self) -> T {
        self.own()
    }

    /// Clones an argument that no attempt can do without.
    #[inline]
    #[must_use]
    pub fn own(&self) -> T {
        self.0.0.0.0.clone()
    }

    /// Accepts that a field of it is moved: each attempt has its own.
    #[inline]
    #[must_use]
    pub const fn spares<F>(&self, _: &F) -> Spared {
        Spared
    }
}

impl<'a, T> Lent<'a, T> {
    /// Lends it. Generated code asks this where a reference has the bounds of the argument's type.
    #[inline]
    #[must_use]
    pub const fn lend(&self) -> &'a T {
        self.0.0.0
    }

    /// Refuses an argument that no attempt can do without.
    #[inline]
    #[must_use]
    pub fn own(&self) -> T
    where
        Each: ForEachAttempt<T>,
    {
        Each::own(self.0.0.0)
    }

    /// Asks of a field that the body moves whether the next attempt finds it again.
    #[inline]
    #[must_use]
    pub const fn spares<'f, F>(&self, field: &'f F) -> Field<'f, F> {
        Field::new(field)
    }
}

impl<'a, T: Sync> Lent<'a, T> {
    /// Lends it.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0.0.0
    }
}

impl<'a, T: Send> Unshared<'a, T> {
    /// Refuses to lend it: the future would not be `Send`, as that of the plain function is.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&self) -> &'a T
    where
        Each: LentAcrossThreads<T>,
    {
        self.0.0
    }
}

impl<T> Unshared<'_, T> {
    /// Refuses an argument whose bounds a reference does not have.
    #[inline]
    #[must_use]
    pub fn own_or_lent(&self) -> T
    where
        Each: ForEachAttempt<T>,
    {
        Each::own(self.0.0)
    }
}

impl<'a, T> LentLocally<'a, T> {
    /// Lends it.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0
    }
}

/// An argument of which the body may move fields: a clone where its type is `Clone`, else a unique
/// reference, through which a field is copied or reborrowed.
///
/// ```text
/// Output: let mut parts = Parts::new(&mut x);
///         let mut x = parts.for_each_attempt();
/// ```
#[derive(Debug)]
pub struct Parts<'a, T>(LentParts<'a, T>);

/// What becomes of such an argument that is not `Clone`.
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
    /// Clones it.
    #[inline]
    #[must_use]
    pub fn for_each_attempt(&mut self) -> T {
        self.0.0.clone()
    }
}

impl<T> LentParts<'_, T> {
    /// Lends it.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&mut self) -> &mut T {
        self.0
    }
}

/// A field that the body moves out of an argument, where the argument is not cloned.
///
/// ```text
/// Output: Field::new(&x.field).again()
/// ```
#[derive(Debug)]
pub struct Field<'f, F>(Reborrowed<'f, F>);

/// A field that is moved, and that may be a `&mut`.
#[derive(Debug)]
pub struct Reborrowed<'f, F>(Gone<'f, F>);

/// A field that is moved and then gone.
#[derive(Debug)]
pub struct Gone<'f, F>(#[expect(dead_code, reason = "its type is looked at")] &'f F);

/// A field of an argument of which each attempt has its own.
#[derive(Debug)]
pub struct Spared;

impl Spared {
    /// Accepts it.
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
    /// Accepts it: it is copied.
    #[inline]
    pub const fn again(&self) {}
}

impl<F: ?Sized> Reborrowed<'_, &mut F> {
    /// Accepts it: it is reborrowed.
    #[inline]
    pub const fn again(&self) {}
}

impl<F> Gone<'_, F> {
    /// Refuses it.
    #[inline]
    pub const fn again(&self)
    where
        Each: FindsAgain<F>,
    {
    }
}

macro_rules! deref {
    ($($from:ident to $to:ident;)*) => {$(
        impl<'a, T> Deref for $from<'a, T> {
            type Target = $to<'a, T>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    )*};
}

deref! {
    Argument to Lent;
    Lent to Unshared;
    Unshared to LentLocally;
    Field to Reborrowed;
    Reborrowed to Gone;
    Parts to LentParts;
}

impl<T> DerefMut for Parts<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Each attempt. The bounds that refuse a type are bounds of this one, and nothing has them: so the
/// compiler proposes to add none to the user's function.
#[derive(Debug)]
pub struct Each;

/// That each attempt can have a value for itself.
#[diagnostic::on_unimplemented(
    message = "`{T}` is used up by the first attempt, and it is not `Clone`",
    label = "value used more than once: every attempt starts from this argument",
    note = "borrow it (`&{T}`), share it (`Arc<{T}>`), or make it `Clone`: derive that, or add it as a bound",
    note = "`clone()` in the attribute clones no argument, and lends this one to each attempt in turn"
)]
pub trait ForEachAttempt<T> {
    /// One for the next attempt.
    #[must_use]
    fn own(argument: &T) -> T;
}

/// That each attempt finds a field again that the body moves.
#[diagnostic::on_unimplemented(
    message = "a field of type `{F}` is moved out of an argument, and each attempt needs it again",
    label = "gone after the first attempt",
    note = "write `.clone()` here, or take it by reference",
    note = "an argument whose type is `Clone` is cloned for each attempt, fields and all; `self` never is"
)]
pub trait FindsAgain<F> {}

/// That a value can be lent to attempts that may run on different threads.
#[diagnostic::on_unimplemented(
    message = "`{T}` is lent to each attempt and is not `Sync`, so the future would not be `Send`",
    label = "every attempt starts from this argument, which is not `Clone`",
    note = "make it `Clone`, share it (`Arc<Mutex<{T}>>`), or take it by reference"
)]
pub trait LentAcrossThreads<T> {}
