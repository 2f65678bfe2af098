//! Methods that return a field.

/// Gives a type a method for each of these fields. With `const`, constants can call it.
macro_rules! getters {
    (const: $($(#[$doc:meta])* $field:ident: $Type:ty;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $field(&self) -> $Type {
            self.$field
        }
    )+};
    ($($(#[$doc:meta])* $field:ident: $Type:ty;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $field(&self) -> $Type {
            self.$field
        }
    )+};
}

pub(crate) use getters;
