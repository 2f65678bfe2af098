//! The pipeline of the attribute. If there are errors, it emits the function beside them as it was typed, so that
//! callers compile and editors keep working.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::{At, Errors};
use crate::item::Function;
use crate::{arguments, editor, expand, item, lower, syntax};

/// Expands `#[retry(args)] item`.
pub(crate) fn retry(args: TokenStream, item: &TokenStream) -> TokenStream {
    let in_editor = editor::is_running().then(|| editor::typed(&args, item));
    let expanded = expanded(args, |blocking, errors| item::parse(item, blocking, errors));
    match (expanded, &in_editor) {
        (Ok(code), Some(typed)) => editor::beside(typed, code),
        (Ok(code), None) => code,
        // A closure stands where rustc expects an expression, so its replacement has to be an expression too.
        (Err(errors), _) if item::is_closure(item) => quote!({ #errors #item }),
        (Err(errors), in_editor) => {
            let item = in_editor.as_ref().unwrap_or(item);
            quote!(#item #errors)
        }
    }
}

/// The code of a function that `read` gives, which knows where `blocking` stands.
///
/// # Errors
///
/// - All mistakes, as code.
pub(crate) fn expanded(
    args: TokenStream,
    read: impl FnOnce(Option<At>, &mut Errors) -> Option<Function>,
) -> Result<TokenStream, TokenStream> {
    let mut errors = Errors::default();
    let args = syntax::parse(args, &lower::VOCABULARY, &mut errors);
    let model = lower::lower(args, &mut errors);
    let planned = read(model.blocking, &mut errors).map(|mut function| {
        let plan = arguments::plan(&mut function, &model, &mut errors);
        (function, plan)
    });
    match (errors.finish(), planned) {
        (None, Some((function, plan))) => Ok(expand::expand(&function, &model, &plan)),
        (errors, _) => Err(errors.unwrap_or_default()),
    }
}
