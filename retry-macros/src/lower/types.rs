//! Lists of error types: `on`, `unless`.

use std::collections::HashSet;

use quote::ToTokens;
use syn::parse::Parse;
use syn::punctuated::Punctuated;
use syn::{Expr, Pat, Path, PathSegment, Token, Type};

use super::all;
use crate::errors::{Message, Mistake, typed, value as wording, whole};
use crate::given::{Form, Given};
use crate::keys::Key;
use crate::paths::{peel_type, type_arguments};
use crate::syntax;
use crate::text;
use crate::tokens::is_among;

pub(super) fn types(given: &Given) -> Result<Vec<Type>, Vec<Mistake>> {
    let key = given.key;
    let elements = match &given.form {
        Form::List(list) => &given.elements(list.clone())[..],
        _ => std::slice::from_ref(given),
    };
    if elements.is_empty() || given.text().is_some_and(|text| text.is_empty()) {
        return Err(given.mistake(wording::no_types(key)).into());
    }
    let mut seen = HashSet::new();
    let alternatives = elements.iter().flat_map(|element| {
        let refused = |_| vec![Err(element.mistake(not_types(element)))];
        let types = element.form.parse(syntax::types);
        types.map_or_else(refused, |types| types.into_iter().map(Ok).collect())
    });
    all(alternatives.map(|ty| {
        let ty = ty?;
        let message = match judge(key, &ty) {
            None if !seen.insert(text_of(&ty)) => wording::twice(key, &typed(&ty)),
            None => return Ok(ty),
            Some(message) => message,
        };
        let at = given.at_part(&ty);
        Err(Mistake { at, message })
    }))
}

/// The text by which two parts count as the same. `io::Error` and `std::io::Error` do not: they may be different types.
pub(super) fn text_of(part: &impl ToTokens) -> String {
    #[cfg(test)]
    crate::tokens::steps::count();
    part.to_token_stream().to_string()
}

/// The message for an element that is not a list of types. It names what was most likely meant.
fn not_types(element: &Given) -> Message {
    let (key, form, found) = (element.key, &element.form, element.typed());
    let write = match form.parse(Punctuated::<Type, Token![,]>::parse_terminated) {
        Ok(types) if types.len() > 1 => format!("{key}({})", found.trim_matches('"')),
        _ if matches!(form.parse(Expr::parse), Ok(Expr::Closure(_))) => asking(key, "…"),
        _ => match form.parse(Pat::parse_multi_with_leading_vert) {
            Ok(Pat::Slice(list)) => match one_of(&list.elems) {
                Some(answer) => asking(key, &answer),
                None => format!("{key}({})", whole(&list.elems)),
            },
            Ok(Pat::TupleStruct(_) | Pat::Struct(_) | Pat::Or(_)) => pattern(key, &found),
            _ => key.example.to_owned(),
        },
    };
    wording::not_a_type(&found, &write)
}

/// The rule that does by a closure what `key` does by a type.
fn asking(key: &Key, answer: &str) -> String {
    let key = if key.name == "on" { "when" } else { key.name };
    format!("{key} = |error| {answer}")
}

/// Whether an error is one of a list of variants or of kinds: `[A::X, A::Y]`, `[ErrorKind::X, ErrorKind::Y]`.
pub(super) fn one_of(elements: &Punctuated<impl ToTokens, Token![,]>) -> Option<String> {
    let elements: Vec<_> = elements.iter().map(|element| whole(element)).collect();
    let has_variants = |text: &String| {
        let of = text.rsplit("::").nth(1);
        of.is_some_and(|of| of.starts_with(char::is_uppercase))
    };
    let alternatives = elements.join(" | ");
    let subject = if alternatives.contains("ErrorKind::") {
        "error.kind()"
    } else {
        "error"
    };
    (elements.iter().any(has_variants)).then(|| format!("matches!({subject}, {alternatives})"))
}

fn pattern(key: &Key, found: &str) -> String {
    asking(key, &format!("matches!(error, {found})"))
}

/// Why no error can be of this type or contain it. `None` if an error can.
fn judge(key: &Key, ty: &Type) -> Option<Message> {
    let ty = peel_type(ty);
    let found = typed(&ty);
    let write = match ty {
        Type::Path(ty) if ty.qself.is_none() => return judge_path(key, &ty.path, &found),
        Type::Path(_) | Type::Macro(_) => return None,
        Type::ImplTrait(_) | Type::TraitObject(_) | Type::Infer(_) => {
            return Some(wording::every_error(key, &found));
        }
        Type::Reference(reference) => match judge(key, &reference.elem) {
            None => format!("{key} = {}", whole(&reference.elem)),
            refused => return refused,
        },
        _ => key.example.to_owned(),
    };
    Some(wording::not_a_type(&found, &write))
}

/// Types of the standard library that are not errors.
const NO_ERRORS: &str = "bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize Option \
                         Result Vec Duration";

fn judge_path(key: &Key, path: &Path, found: &str) -> Option<Message> {
    let any = |holds: fn(&PathSegment) -> bool| path.segments.iter().any(holds);
    let is_std = |first: &PathSegment| is_among(&first.ident, "std core alloc");
    let last = path.segments.last()?;
    let write = match last.ident.to_string().as_str() {
        "ErrorKind" => asking(key, "error.kind() == io::ErrorKind::TimedOut"),
        _ if any(|segment| segment.ident == "ErrorKind") => {
            asking(key, &format!("error.kind() == {found}"))
        }
        _ if path.segments.len() > 1 && !path.segments.first().is_some_and(is_std) => return None,
        "String" | "str" => asking(key, "error.to_string().contains(\"busy\")"),
        "Box" | "Arc" => match type_arguments(last).first() {
            Some(Type::TraitObject(_)) => return Some(wording::every_error(key, found)),
            // It is found in a `Box` or an `Arc` too.
            Some(inner) => format!("{key} = {}", whole(inner)),
            None => return None,
        },
        name if text::among(NO_ERRORS, name) => key.example.to_owned(),
        _ => return None,
    };
    Some(wording::not_a_type(found, &write))
}
