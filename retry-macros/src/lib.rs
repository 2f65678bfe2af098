//! The attribute and the derive of the `reattempt` crate. Their documentation is at the re-exports of the facade.

#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod arguments;
mod attribute;
mod classifier;
mod conditions;
mod constant;
mod derive;
mod errors;
mod expand;
mod future;
mod given;
mod item;
mod keys;
mod lower;
mod model;
mod operand;
mod paths;
mod settings;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;
mod usage;

/// Retries an async function. Documented on `reattempt::retry`.
#[cfg(proc_macro)]
#[proc_macro_attribute]
pub fn retry(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    attribute::retry(args.into(), &item.into()).into()
}

/// Gives an error type its verdicts. Documented on `reattempt::Retryable`.
#[cfg(proc_macro)]
#[proc_macro_derive(Retryable, attributes(retryable))]
pub fn retryable(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive::derive(input.into()).into()
}

// `tests/fuzz` builds the same code as a library, because only rustc can call a procedural macro.

/// Expands `#[retry(args)] item`.
#[cfg(not(proc_macro))]
#[must_use]
pub fn retry(
    args: proc_macro2::TokenStream,
    item: &proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    attribute::retry(args, item)
}

/// Expands `#[derive(Retryable)] input`.
#[cfg(not(proc_macro))]
#[must_use]
pub fn retryable(input: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    derive::derive(input)
}
