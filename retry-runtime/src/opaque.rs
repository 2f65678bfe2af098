//! `Debug` for types that hold a user's future or closure, which may have none.

/// Implements `Debug` for types as their name alone: their name, the parameters of the `impl`, and those of the type.
macro_rules! opaque {
    ($($name:ident [$($parameters:tt)*] [$($arguments:tt)*];)+) => {$(
        impl<$($parameters)*> std::fmt::Debug for $name<$($arguments)*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+};
}

pub(crate) use opaque;
