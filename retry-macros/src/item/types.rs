//! What a type shows as written, whatever its names mean.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type};

use super::Function;
use crate::paths::{ends_in, peel_type, type_arguments};
use crate::tokens::{self, is_punct, is_word};

/// The error's type, if the output is written as `Result<T, E>`.
pub(crate) fn visible_error(output: &Type) -> Option<&Type> {
    let Type::Path(path) = peel_type(output) else {
        return None;
    };
    let result = path.path.segments.last()?;
    match type_arguments(result).as_slice() {
        [_, error] if result.ident == "Result" => Some(error),
        _ => None,
    }
}

/// Whether the tokens contain a lifetime other than `'static`, or a reference without a lifetime.
pub(crate) fn mentions_lifetime(tokens: &dyn ToTokens) -> bool {
    let Lifetimes { named, elided } = Lifetimes::of(tokens);
    elided || !named.is_empty()
}

/// The lifetimes in some tokens.
#[derive(Default)]
pub(crate) struct Lifetimes {
    /// The names, without `'static`.
    pub(crate) named: HashSet<String>,
    /// Whether there is a `'_`, or a reference without a lifetime.
    pub(crate) elided: bool,
}

impl Lifetimes {
    pub(crate) fn of(tokens: &dyn ToTokens) -> Self {
        let mut found = Self::default();
        let mut tokens = tokens::deep(tokens).peekable();
        while let Some(token) = tokens.next() {
            if is_punct(Some(&token), "'") {
                match tokens.next() {
                    Some(TokenTree::Ident(name)) if name == "static" => {}
                    Some(TokenTree::Ident(name)) if name != "_" => {
                        found.named.insert(name.to_string());
                    }
                    _ => found.elided = true,
                }
            } else if is_punct(Some(&token), "&") {
                found.elided |= !is_punct(tokens.peek(), "'");
            }
        }
        found
    }
}

/// The type with `_` for each `impl Trait`, which cannot be written inside a body.
///
/// ```text
/// Input:   Result<impl Iterator<Item = u8>, E>
/// Output:  Result<_, E>
/// ```
pub(crate) fn without_impl(ty: &Type) -> Type {
    let mut ty = ty.clone();
    infer_impl(&mut ty);
    ty
}

fn infer_impl(ty: &mut Type) {
    match ty {
        Type::ImplTrait(found) => {
            let span = found.span();
            *ty = Type::Verbatim(quote_spanned!(span=> _));
        }
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                    for argument in &mut arguments.args {
                        if let GenericArgument::Type(ty) = argument {
                            infer_impl(ty);
                        }
                    }
                }
            }
        }
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(infer_impl),
        Type::Reference(reference) => infer_impl(&mut reference.elem),
        Type::Paren(paren) => infer_impl(&mut paren.elem),
        Type::Group(group) => infer_impl(&mut group.elem),
        Type::Array(array) => infer_impl(&mut array.elem),
        Type::Slice(slice) => infer_impl(&mut slice.elem),
        _ => {}
    }
}

/// Whether the code lets rustc choose, by traits, to keep the last error. Traits do not show lifetimes. So it
/// does not keep an error that may borrow, or whose type only the caller knows.
pub(crate) fn may_be_kept(function: &Function) -> bool {
    match visible_error(&function.output) {
        Some(error) => {
            let unknown = |word: &Ident| word == "impl" || function.is_generic(word);
            !mentions_lifetime(error)
                && !tokens::any_word(error, &unknown)
                && !has_associated_type(error)
        }
        None => {
            let output = function.output.to_token_stream();
            !head_mentions_lifetime(output) && !tokens::has_word(&function.output, "impl")
        }
    }
}

/// Whether there is a type such as `Store::Error` or `<Store as Backend>::Error`: `Store` is a type parameter. The types of `Self`
/// are those of the `impl` around.
fn has_associated_type(error: &Type) -> bool {
    let tokens: Vec<_> = tokens::deep(error).collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) if word != "Self" => {
            let next = tokens.get(at + 1);
            let is_path =
                is_punct(next, ":") && matches!(tokens.get(at + 3), Some(TokenTree::Ident(_)));
            let is_type = word.to_string().starts_with(char::is_uppercase);
            is_type && (is_path || is_word(next, "as"))
        }
        _ => false,
    })
}

/// Whether an alias itself takes a lifetime, as in `Reply<'a, T>`. A lifetime within its arguments, as in
/// `io::Result<&str>`, is a lifetime of the value.
fn head_mentions_lifetime(tokens: TokenStream) -> bool {
    let mut depth = 0_i32;
    for token in tokens {
        if let TokenTree::Punct(punct) = token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                '\'' if depth == 1 => return true,
                _ => {}
            }
        }
    }
    false
}

/// Whether a type cannot be an alias of `Result`, whatever names are in scope.
pub(super) fn visibly_no_result(ty: &Type) -> bool {
    const NAMES: &str = "bool char str String Option Vec Box Arc Rc HashMap u8 u16 u32 u64 u128 usize i8 i16 i32 \
                         i64 i128 isize f32 f64 BTreeMap Bytes PathBuf";
    match peel_type(ty) {
        Type::Path(path) => ends_in(&path.path, NAMES),
        Type::Tuple(_)
        | Type::Reference(_)
        | Type::Array(_)
        | Type::Slice(_)
        | Type::Never(_)
        | Type::FnPtr(_)
        | Type::TraitObject(_)
        | Type::Ptr(_) => true,
        _ => false,
    }
}
