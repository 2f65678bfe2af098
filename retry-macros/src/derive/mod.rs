//! `#[derive(Retryable)]`: parse, lower, expand.

mod errors;
mod expand;
mod keys;
mod lower;
mod marks;
mod members;
mod model;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::errors::Errors;

/// Writes the implementation, or says all that is wrong with what was asked for.
///
/// The item itself is never touched: a derive only adds. With mistakes it adds an implementation all
/// the same, so that the functions that return this error do not fail as well.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        // rustc has parsed the item before us.
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let model = lower::lower(&input, &mut errors);
    match errors.finish() {
        None => expand::implementation(&model),
        Some(errors) => {
            let stand_in = expand::stand_in(&model);
            quote::quote!(#errors #stand_in)
        }
    }
}
