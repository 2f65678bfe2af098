//! What an attempt leaves of an argument whose fields the body uses by value.

use super::refused::{Each, FindsAgain};
use super::{LentParts, Parts};
use crate::lookup::Level;

/// A field that the body moves out of an argument that is not cloned.
///
/// ```text
/// Output: Field::new(&x.field).again()
/// ```
pub type Field<'f, F> = Level<Reborrowed<'f, F>>;

/// A moved field whose type is not `Copy`.
type Reborrowed<'f, F> = Level<Gone<'f, F>>;

/// A moved field whose type is neither `Copy` nor `&mut`. The next attempt does not have it.
#[derive(Debug)]
pub struct Gone<'f, F>(#[expect(dead_code, reason = "only its type is used")] &'f F);

/// A field that the body moves out of a clone of the argument.
#[derive(Debug)]
pub struct Spared;

impl Spared {
    /// Accepts the field.
    pub const fn again(&self) {}
}

impl<'f, F> Field<'f, F> {
    /// Takes the field as the caller passed it.
    pub const fn new(field: &'f F) -> Self {
        Level(Level(Gone(field)))
    }
}

impl<F: Copy> Field<'_, F> {
    /// Accepts the field: the body copies it.
    pub const fn again(&self) {}

    /// Tells that the argument stays intact.
    pub const fn left(&self) -> Intact {
        Intact
    }
}

impl<F: ?Sized> Reborrowed<'_, &mut F> {
    /// Accepts the field: the body reborrows it.
    pub const fn again(&self) {}

    /// Tells that the argument stays intact.
    pub const fn left(&self) -> Intact {
        Intact
    }
}

impl<F> Gone<'_, F> {
    /// Refuses the field: the next attempt would not have it.
    #[rustfmt::skip]
    pub const fn again(&self) where Each: FindsAgain<F> {}

    /// Tells that the argument misses the field.
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
    pub const fn with<L: Copy>(self, left: L) -> L {
        left
    }

    /// Lends the argument to each attempt.
    pub const fn parts<T>(self, argument: &mut T) -> LentParts<'_, T> {
        LentParts(argument)
    }
}

impl Broken {
    /// Adds what another field leaves.
    pub const fn with<L: Copy>(self, _: L) -> Self {
        self
    }

    /// Clones the argument for each attempt.
    pub const fn parts<T>(self, argument: &mut T) -> Parts<'_, T> {
        Parts::new(argument)
    }
}
