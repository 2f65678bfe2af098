//! The annotated function: its attributes and signature as typed, its body as tokens.
//!
//! The parser does not look into the body, except for a future by hand (see `future.rs`). rustc reports
//! mistakes in it.

mod commit;
mod types;

pub(crate) use self::commit::with_commits;
pub(crate) use self::types::{Lifetimes, may_be_kept, mentions_lifetime, without_impl};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, ReturnType, Signature, Token, Type, Visibility};

use self::types::{visible_error, visibly_no_result};
use crate::errors::{self, At, Errors};
use crate::future::{self, FutureBlock, Handmade};
use crate::tokens::{self, located};

/// A function that can be retried.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) defaultness: Option<Token![default]>,
    pub(crate) signature: Signature,
    /// Attributes within the braces.
    pub(crate) inner_attributes: Vec<Attribute>,
    pub(crate) body: TokenStream,
    pub(crate) braces: Span,
    /// What an attempt returns: the type after `->`, or the output of the returned future. Empty without `->`.
    pub(crate) output: Type,
    /// Set if the function is not `async` and returns a future.
    pub(crate) handmade: Option<Handmade>,
    /// Set if it is a closure of `run!`.
    pub(crate) closure: Option<Bars>,
}

/// The head of a closure.
#[derive(Clone, Copy)]
pub(crate) struct Bars {
    pub(crate) capture: Option<Token![move]>,
    /// The place of the bars.
    pub(crate) span: Span,
}

/// Reads the item, or reports why it cannot be retried.
///
/// `blocking` is the place of that key.
pub(crate) fn parse(
    item: &TokenStream,
    blocking: Option<At>,
    errors: &mut Errors,
) -> Option<Function> {
    match as_typed.parse2(item.clone()) {
        Ok((function, has_body)) => check(function, has_body, blocking, errors),
        Err(error) => {
            match item_keyword(item) {
                Some(word) => errors.push(word.span(), errors::item::not_a_function(&word)),
                None if is_closure(item) => errors.push(At::of(item), errors::item::closure()),
                None => errors.push(error.span(), errors::item::unreadable_function(&error)),
            }
            None
        }
    }
}

/// A function as typed, whether or not it can be retried, and whether it has a body.
fn as_typed(input: ParseStream<'_>) -> syn::Result<(Function, bool)> {
    let mut function = Function {
        attributes: input.call(Attribute::parse_outer)?,
        visibility: input.parse()?,
        defaultness: input.parse()?,
        signature: input.parse()?,
        inner_attributes: Vec::new(),
        body: TokenStream::new(),
        braces: Span::call_site(),
        output: Type::Verbatim(TokenStream::new()),
        handmade: None,
        closure: None,
    };
    let has_body = input.parse::<Option<Token![;]>>()?.is_none();
    if has_body {
        let content;
        function.braces = syn::braced!(content in input).span.join();
        function.inner_attributes = content.call(Attribute::parse_inner)?;
        function.body = content.parse()?;
    }
    if !input.is_empty() {
        return Err(input.error("expected one function"));
    }
    let signature = &function.signature;
    if let ReturnType::Type(_, declared) = &signature.output {
        let future = Some(declared).filter(|_| signature.asyncness.is_none());
        function.output = match future.and_then(|declared| future::output_of(declared)) {
            Some((output, kind)) => {
                let block = future::block_of(kind, signature, function.body.clone());
                function.handmade = Some(Handmade { kind, block });
                output
            }
            None => (**declared).clone(),
        };
    }
    Ok((function, has_body))
}

/// What an attempt returns, as far as the item shows it.
pub(crate) fn output(item: &TokenStream) -> Option<Type> {
    let (function, _) = as_typed.parse2(item.clone()).ok()?;
    function.returns_something().then_some(function.output)
}

/// Whether `#[tokio::main]` or `#[tokio::test]` stands above the attribute, and has already rewritten the function.
fn is_made_by_tokio(body: &TokenStream) -> bool {
    tokens::any_text(body, |text| text == r#""Failed building the Runtime""#)
}

fn check(
    function: Function,
    has_body: bool,
    blocking: Option<At>,
    errors: &mut Errors,
) -> Option<Function> {
    let before = errors.count();
    let signature = &function.signature;
    let is_async = signature.asyncness.is_some();
    if let Some(constness) = &signature.constness {
        errors.push(constness.span(), errors::item::const_function());
    }
    if let (true, Some(abi)) = (is_async || blocking.is_some(), &signature.abi) {
        errors.push(abi.extern_token.span(), errors::item::extern_function());
    }
    if !has_body {
        let name = signature.ident.span();
        errors.push(name, errors::item::function_without_body());
    }
    let is_future = is_async || function.handmade.is_some();
    if let (Some(at), true) = (blocking, is_future) {
        errors.push(at, errors::item::blocking_and_async("functions"));
    }
    if is_future || blocking.is_some() {
        if function.returns_something() {
            check_output(&function.output, "function", errors);
        } else {
            errors.push(signature.ident.span(), errors::item::returns_nothing());
        }
    } else if is_made_by_tokio(&function.body) {
        errors.push(signature.fn_token.span(), errors::item::runs_in_a_runtime());
    } else if signature.constness.is_none() {
        errors.push(signature.fn_token.span(), errors::item::not_async());
    }
    (errors.count() == before).then_some(function)
}

/// Refuses an output that is no `Result`.
pub(crate) fn check_output(output: &Type, what: &str, errors: &mut Errors) {
    if visibly_no_result(output) {
        let found = errors::whole(output);
        errors.push(
            At::of(output),
            errors::item::returns_no_result(what, &found),
        );
    }
}

impl Function {
    fn returns_something(&self) -> bool {
        matches!(self.signature.output, ReturnType::Type(..))
    }

    /// Whether a word is a type parameter: one of the function, or by its look one of the `impl` around it.
    pub(crate) fn is_generic(&self, word: &Ident) -> bool {
        let mut parameters = self.signature.generics.type_params();
        looks_generic(word) || parameters.any(|parameter| parameter.ident == *word)
    }

    /// Where rustc reports that the result is not what a retry needs: the type of the error, if it is written, or the whole.
    pub(crate) fn blamed(&self) -> Span {
        let at = match (visible_error(&self.output), self.closure) {
            (Some(error), _) => error.span(),
            (None, Some(bars)) if !self.is_typed() => bars.span,
            (None, _) => self.output.span(),
        };
        located(at)
    }

    /// Whether the type of the output was written.
    fn is_typed(&self) -> bool {
        !matches!(self.output, Type::Verbatim(_))
    }

    /// The block of the future that the function returns by hand.
    pub(crate) fn block(&self) -> Option<&FutureBlock> {
        self.handmade.as_ref()?.block.as_ref()
    }
}

/// The keyword of an item that is not a function.
fn item_keyword(item: &TokenStream) -> Option<Ident> {
    const ITEMS: &str = "struct enum union trait impl mod static type use macro_rules let const";
    let words = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    let words: Vec<_> = words.collect();
    if words.iter().any(|word| word == "fn") {
        return None;
    }
    words.into_iter().find(|word| tokens::is_among(word, ITEMS))
}

/// Whether the item is a closure: `async move |a| …`.
pub(crate) fn is_closure(item: &TokenStream) -> bool {
    matches!(syn::parse2(item.clone()), Ok(syn::Expr::Closure(_)))
}

/// Whether a word is written like a type parameter of the `impl` around the function: `E`, `E1`, `DB`.
pub(crate) fn looks_generic(word: &Ident) -> bool {
    let word = word.to_string();
    let digits = word.trim_start_matches(|char: char| char.is_ascii_uppercase());
    let letters = word.len() - digits.len();
    (1..=2).contains(&letters) && digits.chars().all(|digit| digit.is_ascii_digit())
}
