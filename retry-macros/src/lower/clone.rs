//! `clone`: names of arguments.

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::Parse;

use super::unless_reported;
use crate::errors::{Errors, Fault, value as wording};
use crate::given::{Form, Given};
use crate::keys::{self, Grammar};
use crate::{syntax, tokens};

/// Reads the names, and reports each element that is not a name. `Err(None)` if there was such an element.
pub(super) fn names(given: &Given, errors: &mut Errors) -> Result<Vec<Ident>, Option<Fault>> {
    let list = match &given.form {
        form @ Form::Text(_) => form.parse(TokenStream::parse).map_err(|_| given.wrong())?,
        Form::Rust(tokens) => in_brackets(tokens),
        Form::List(tokens) => tokens.clone(),
    };
    let before = errors.count();
    let mut found: Vec<Ident> = Vec::new();
    for element in syntax::elements(list, Grammar::Names, keys::find) {
        let form = Form::of(element.clone());
        let message = match form.parse(Ident::parse_any) {
            Ok(name) if found.contains(&name) => wording::twice(given.key, &name.to_string()),
            Ok(name) => {
                found.push(name);
                continue;
            }
            Err(_) => wording::not_a_name(&form.typed()),
        };
        errors.push(given.at_part(&element), message);
    }
    unless_reported(found, before, errors)
}

/// The tokens inside `(a, b)` or `[a, b]`. Other tokens stay as they are.
fn in_brackets(tokens: &TokenStream) -> TokenStream {
    match tokens::lone_group(tokens) {
        Some(group) if group.delimiter() != Delimiter::Brace => group.stream(),
        _ => tokens.clone(),
    }
}
