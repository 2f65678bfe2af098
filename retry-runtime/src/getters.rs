//! Methods that return a field, and those that set one.

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

/// Gives a type a method for each of these, which sets a field: to a value, or to a closure.
macro_rules! setters {
    ($($(#[$doc:meta])* $with:ident(Fn($($Argument:ty),+) -> $Answer:ty) => $field:ident;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $with(
            mut self,
            $field: impl Fn($($Argument),+) -> $Answer + Send + Sync + 'static,
        ) -> Self {
            self.$field = Some(std::sync::Arc::new($field));
            self
        }
    )+};
    ($($(#[$doc:meta])* $with:ident($argument:ident: $Type:ty) => $($field:ident).+ = $value:expr;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $with(mut self, $argument: $Type) -> Self {
            self.$($field).+ = $value;
            self
        }
    )+};
}

pub(crate) use {getters, setters};
