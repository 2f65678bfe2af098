//! `clone`: names of arguments.

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::ext::IdentExt;

use super::each;
use crate::errors::{Fault, value as wording};
use crate::given::{Form, Given};
use crate::tokens;

pub(super) fn names(given: &Given) -> Result<Vec<Ident>, Vec<Fault>> {
    let list = match &given.form {
        Form::Rust(tokens) => in_brackets(tokens),
        form => form.tokens().map_err(|_| given.wrong())?,
    };
    let mut seen = Vec::new();
    each(given.elements(list), |element| {
        let message = match element.form.parse(Ident::parse_any) {
            Ok(name) if seen.contains(&name) => wording::twice(given.key, &name.to_string()),
            Ok(name) => {
                seen.push(name.clone());
                return Ok(name);
            }
            Err(_) => wording::not_a_name(&element.typed()),
        };
        Err(element.fault(message))
    })
}

/// The tokens inside `(a, b)` or `[a, b]`. Other tokens stay as they are.
fn in_brackets(tokens: &TokenStream) -> TokenStream {
    match tokens::lone_group(tokens) {
        Some(group) if group.delimiter() != Delimiter::Brace => group.stream(),
        _ => tokens.clone(),
    }
}
