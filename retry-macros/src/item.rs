//! The annotated function: its attributes and signature as typed, its body as tokens.
//!
//! The body is never parsed (only a function that returns a future by hand is looked into, see
//! `future.rs`): what is unfinished or wrong in it is rustc's to say.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, FnArg, GenericArgument, PathArguments, ReceiverKind, ReturnType, Signature, Token,
    Type, Visibility,
};

use crate::errors::{self, Errors};
use crate::future::{self, Handmade};

/// A function that can be retried.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) defaultness: Option<Token![default]>,
    pub(crate) signature: Signature,
    /// Attributes within the braces.
    pub(crate) inner_attributes: Vec<Attribute>,
    pub(crate) body: TokenStream,
    /// The braces of the body.
    pub(crate) braces: Span,
    /// What an attempt returns: the type after `->`, or the one that the returned future gives.
    pub(crate) output: Type,
    /// A function that is not `async` and returns a future.
    pub(crate) handmade: Option<Handmade>,
}

/// Reads the item, or says why it cannot be retried.
pub(crate) fn parse(item: &TokenStream, errors: &mut Errors) -> Option<Function> {
    let raw = match syn::parse2::<RawFunction>(item.clone()) {
        Ok(raw) => raw,
        Err(error) => {
            match item_keyword(item) {
                Some((span, what)) => errors.push(span, errors::item::not_a_function(&what)),
                None => errors.push(error.span(), errors::item::unreadable_function(&error)),
            }
            return None;
        }
    };
    check(raw, errors)
}

/// A function as it stands, whether or not it can be retried.
struct RawFunction {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    defaultness: Option<Token![default]>,
    signature: Signature,
    body: Option<(Vec<Attribute>, TokenStream, Span)>,
}

impl Parse for RawFunction {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let defaultness = input.parse()?;
        let signature = input.parse()?;
        let body = if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            None
        } else {
            let content;
            let braces = syn::braced!(content in input);
            let inner = content.call(Attribute::parse_inner)?;
            Some((inner, content.parse()?, braces.span.join()))
        };
        if !input.is_empty() {
            return Err(input.error("expected one function"));
        }
        Ok(Self {
            attributes,
            visibility,
            defaultness,
            signature,
            body,
        })
    }
}

fn check(raw: RawFunction, errors: &mut Errors) -> Option<Function> {
    let RawFunction {
        attributes,
        visibility,
        defaultness,
        signature,
        body,
    } = raw;
    let before = errors.count();
    if let Some(constness) = &signature.constness {
        errors.push(constness.span(), errors::item::const_function());
    }
    if let (Some(_), Some(abi)) = (&signature.asyncness, &signature.abi) {
        errors.push(abi.span(), errors::item::extern_function());
    }
    if body.is_none() {
        errors.push(
            signature.ident.span(),
            errors::item::function_without_body(),
        );
    }
    let (output, handmade) = match (&signature.asyncness, &signature.output) {
        (Some(_), ReturnType::Type(_, output)) => (Some((**output).clone()), None),
        (Some(_), ReturnType::Default) => {
            errors.push(signature.ident.span(), errors::item::returns_nothing());
            (None, None)
        }
        (None, ReturnType::Type(_, output)) => match future::output_of(output) {
            Some((output, kind)) => {
                let body = body
                    .as_ref()
                    .map_or_else(TokenStream::new, |(_, body, _)| body.clone());
                (Some(output), Some(Handmade::new(kind, &signature, body)))
            }
            None => {
                if signature.constness.is_none() {
                    errors.push(signature.fn_token.span(), errors::item::not_async());
                }
                (None, None)
            }
        },
        (None, ReturnType::Default) => {
            if signature.constness.is_none() {
                errors.push(signature.fn_token.span(), errors::item::not_async());
            }
            (None, None)
        }
    };
    if let Some(output) = &output {
        if visibly_no_result(output) {
            errors.push(
                output.span(),
                errors::item::returns_no_result(&text_of(output)),
            );
        }
    }
    let (inner_attributes, body, braces) = body?;
    if errors.count() > before {
        return None;
    }
    Some(Function {
        attributes,
        visibility,
        defaultness,
        signature,
        inner_attributes,
        body,
        braces,
        output: output?,
        handmade,
    })
}

impl Function {
    /// Whether the result may borrow from a `&mut` argument: a lifetime, or a reference, is in sight.
    pub(crate) fn output_may_borrow(&self) -> bool {
        mentions_lifetime(&self.output.to_token_stream())
    }

    /// The name of the function's own type parameters.
    pub(crate) fn is_type_parameter(&self, name: &syn::Ident) -> bool {
        self.signature
            .generics
            .type_params()
            .any(|parameter| parameter.ident == *name)
    }

    /// Whether `self` is taken by `&mut self`.
    pub(crate) fn takes_mutable_self(&self) -> bool {
        matches!(
            self.signature.inputs.first(),
            Some(FnArg::Receiver(receiver))
                if matches!(&receiver.kind, ReceiverKind::Reference(_, _, Some(_)))
        )
    }
}

/// The error's type, where the output is written `Result<T, E>`.
pub(crate) fn visible_error(output: &Type) -> Option<&Type> {
    let segment = last_segment(output)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    match (
        segment.ident == "Result",
        types.next(),
        types.next(),
        types.next(),
    ) {
        (true, Some(_), Some(error), None) => Some(error),
        _ => None,
    }
}

/// Whether a lifetime other than `'static`, or a reference without one, stands in these tokens.
pub(crate) fn mentions_lifetime(tokens: &TokenStream) -> bool {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct)
                if punct.as_char() == '\''
                    && !matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "static") =>
            {
                return true;
            }
            TokenTree::Punct(punct)
                if punct.as_char() == '&'
                    && !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'') =>
            {
                return true;
            }
            TokenTree::Group(group) if mentions_lifetime(&group.stream()) => return true,
            _ => {}
        }
    }
    false
}

/// The type without the `impl Trait` in it, which cannot be written inside a body.
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
            *ty = Type::Verbatim(quote::quote_spanned!(span=> _));
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

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// Whether a type cannot be an alias of `Result`, whatever the names in scope.
fn visibly_no_result(ty: &Type) -> bool {
    const NAMES: [&str; 27] = [
        "bool", "char", "str", "String", "Option", "Vec", "Box", "Arc", "Rc", "HashMap", "u8",
        "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
        "f64", "BTreeMap", "Bytes", "PathBuf",
    ];
    match ty {
        Type::Group(group) => visibly_no_result(&group.elem),
        Type::Paren(paren) => visibly_no_result(&paren.elem),
        Type::Path(_) => {
            last_segment(ty).is_some_and(|segment| NAMES.iter().any(|name| segment.ident == name))
        }
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

/// The word that says what sort of item this is, where it is no function.
fn item_keyword(item: &TokenStream) -> Option<(Span, String)> {
    const ITEMS: [&str; 12] = [
        "struct",
        "enum",
        "union",
        "trait",
        "impl",
        "mod",
        "static",
        "type",
        "use",
        "macro_rules",
        "let",
        "const",
    ];
    let mut found = None;
    for token in item.clone() {
        if let TokenTree::Ident(ident) = token {
            if ident == "fn" {
                return None;
            }
            if found.is_none() && ITEMS.iter().any(|word| ident == word) {
                found = Some((ident.span(), ident.to_string()));
            }
        }
    }
    found
}

/// A type as its author would write it.
pub(crate) fn text_of(ty: &Type) -> String {
    let text = quote!(#ty).to_string();
    // The printer of tokens puts a space round each; types read better without most of them.
    ["< ", " <", " >", "& ", " ,", " ::", ":: ", "( ", " )"]
        .iter()
        .fold(text, |text, spaced| text.replace(spaced, spaced.trim()))
}

/// A name without `r#`.
pub(crate) fn unraw(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#")
        .map_or_else(|| text.clone(), str::to_owned)
}
