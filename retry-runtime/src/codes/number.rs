//! The types of integers that a code can have.

use crate::sealed::Sealed;

/// An integer of any type, or a reference to one.
///
/// It can be a reference, because `with` of `#[derive(Retryable)]` passes the fields of an error by reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the number of a code",
    label = "expected an integer, or a reference to one",
    note = "write a function that returns the verdict: `#[retryable(with = \"path::to_function\")]`"
)]
pub trait CodeNumber: Sealed {
    /// Returns the number, or -1 if it does not fit in an `i32`. Every code fits.
    fn code_number(&self) -> i32;
}

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl Sealed for $integer {}

        #[diagnostic::do_not_recommend]
        impl CodeNumber for $integer {
            fn code_number(&self) -> i32 {
                (*self).try_into().unwrap_or(-1)
            }
        }
    )+};
}

integers!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);

impl<N: CodeNumber> Sealed for &N {}

#[diagnostic::do_not_recommend]
impl<N: CodeNumber> CodeNumber for &N {
    fn code_number(&self) -> i32 {
        (**self).code_number()
    }
}
