//! `#[derive(Retryable)]`: parse, lower, expand.

mod errors;
mod expand;
mod keys;
mod lower;
mod marks;

#[cfg(test)]
mod tests;

pub(crate) use self::keys::KEYS as WORDS;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::editor;
use crate::errors::Errors;

/// Writes the implementation, or reports all mistakes.
///
/// If there are mistakes, it adds an implementation too, so that functions that return this error compile.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let in_editor = editor::is_running().then(|| marks::mentions(&input));
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        // rustc has parsed the item already, so that only syntax that is new to syn fails here.
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let model = lower::lower(&input, &mut errors);
    let errors = errors.finish();
    let code = match errors {
        None => expand::implementation(&model),
        Some(_) => expand::stand_in(&model),
    };
    quote::quote!(#in_editor #errors #code)
}
