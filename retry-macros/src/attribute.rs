//! The pipeline of the attribute. If there are errors, it emits the function beside them as it was typed, so that
//! callers compile and editors keep working.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::{arguments, editor, expand, item, lower, syntax};

/// Expands `#[retry(args)] item`.
pub(crate) fn retry(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let in_editor = editor::is_running().then(|| editor::typed(&args, item));
    let args = syntax::parse(args, &lower::VOCABULARY, &mut errors);
    let model = lower::lower(args, &mut errors);
    let planned = item::parse(item, model.blocking, &mut errors).map(|mut function| {
        let plan = arguments::plan(&mut function, &model, &mut errors);
        (function, plan)
    });
    match (errors.finish(), planned) {
        (None, Some((function, plan))) => {
            let code = expand::expand(&function, &model, &plan);
            match &in_editor {
                Some(typed) => editor::beside(typed, code),
                None => code,
            }
        }
        // A closure stands where rustc expects an expression, so its replacement has to be an expression too.
        (errors, _) if item::is_closure(item) => quote!({ #errors #item }),
        (errors, _) => {
            let item = in_editor.as_ref().unwrap_or(item);
            quote!(#item #errors)
        }
    }
}
