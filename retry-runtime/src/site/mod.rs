//! What is known about an annotated function before it is called, and the settings of a call.

mod given;
mod located;
mod settings;

pub use self::given::{BudgetOf, DelaysOf, PolicyOf};
pub use self::settings::SiteSettings;

use std::ops::Deref;
use std::panic::Location;

use crate::budget::BudgetCell;
use crate::trace::Lines;

/// An annotated function: the settings of its calls. The expansion of each function has one.
///
/// `LIMITED` says whether a timer may cut its attempts. It is a parameter of the type. So a function without timeout
/// and deadline has no timer in its future, and its error type need not hold a `Stopped`. The settings alone begin the calls
/// of such a function.
#[derive(Debug)]
pub struct Site<const LIMITED: bool>(SiteSettings<'static>);

/// What all calls of an annotated function share. The expansion of each function has one, in a `static`.
#[derive(Debug)]
pub struct SiteState {
    /// Where the attribute of the function is.
    pub(crate) place: &'static Location<'static>,
    /// The state of the function's own budget, used if the attribute names none.
    cell: BudgetCell,
    /// How many log lines of the function are left out.
    pub(crate) lines: Lines,
    /// The state of the budget of the function's hedges.
    pub(crate) hedges: BudgetCell,
}

impl SiteState {
    /// Makes the shared part, with a full budget. In generated code, the place of the caller is that of the attribute.
    #[expect(
        clippy::new_without_default,
        reason = "generated code calls it in a `static`"
    )]
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Self::at(Location::caller())
    }

    /// Makes the shared part of the calls at `place`.
    const fn at(place: &'static Location<'static>) -> Self {
        Self {
            place,
            cell: BudgetCell::full(),
            lines: Lines::new(),
            hedges: BudgetCell::full(),
        }
    }
}

impl SiteSettings<'static> {
    /// Describes an annotated function. A call uses these settings unless it computes some of its own.
    #[must_use]
    pub const fn site<const LIMITED: bool>(self) -> Site<LIMITED> {
        Site(self)
    }
}

impl<const LIMITED: bool> Deref for Site<LIMITED> {
    type Target = SiteSettings<'static>;

    #[inline]
    fn deref(&self) -> &SiteSettings<'static> {
        &self.0
    }
}
