//! The user's body as the block of an attempt.

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};

use crate::arguments::Plan;
use crate::item::{self, Function};
use crate::tokens::{generated, grouped, has_word, is_among, is_import, is_punct};
use crate::usage::is_formatting;

/// Writes the block of an attempt. `at` is its span, where rustc reports a value that the first attempt used up.
///
/// ```text
/// Output: { if false { BORROWS return typed::<io::Result<T>>(); } FAULT REBORROWS { BODY } }
///         { if false { BORROWS return typed::<io::Result<T>>(); } FAULT REBORROWS EXPRESSION }
/// ```
pub(super) fn attempt(
    function: &Function,
    plan: &Plan,
    fault: Option<&TokenStream>,
    body: &TokenStream,
    at: Span,
    (hedged, said): (bool, bool),
) -> TokenStream {
    let typed = typed_return(&item::without_impl(&function.output));
    let body = if plan.rename_self {
        renamed_self(body.clone(), Span::mixed_site())
    } else {
        body.clone()
    };
    let [before, body] = item::with_commits(body, hedged, said);
    let Plan { never, within, .. } = plan;
    // The body keeps the user's braces. rustc puts "expected `Result`, found `()`" on them, and an item in the body
    // does not come after our own statement. Around a single expression, rustc would warn of unnecessary braces.
    let block = if has_statements(&body) {
        // What a `cfg` leaves may be a single expression, so an item stands before it.
        let has_cfg = has_word(&body, "cfg cfg_attr");
        let item = has_cfg.then(|| generated! { const _: () = (); });
        braced(generated!(#item #body), function.braces)
    } else {
        body
    };
    let code = generated!(#before if false { #never #typed } #fault #within #block);
    braced(code, at)
}

/// A `return` that is never reached and gives the block its type, so that the body's last expression is
/// coerced as it would be in the plain function.
pub(super) fn typed_return(output: &syn::Type) -> TokenStream {
    generated!(return __retry::typed::<#output>();)
}

/// Renames `self` to `__self`, except within items. `hygiene` is the span at which `__self` is bound.
pub(super) fn renamed_self(body: TokenStream, hygiene: Span) -> TokenStream {
    let this = |at: Span| Ident::new("__self", hygiene.located_at(at));
    let tokens: Vec<_> = body.into_iter().collect();
    let mut in_item = false;
    let renamed = tokens.iter().enumerate().map(|(at, token)| match token {
        // The module in `self::page` has no other name.
        TokenTree::Ident(word) if word == "self" && !is_punct(tokens.get(at + 1), ":") => {
            this(word.span()).into()
        }
        TokenTree::Ident(word) => {
            in_item |= begins_item(word, tokens.get(at + 1));
            token.clone()
        }
        TokenTree::Punct(punct) => {
            // An item without braces: `struct Page;`, `struct Page(u32);`.
            in_item &= punct.as_char() != ';';
            token.clone()
        }
        TokenTree::Group(group) if in_item => {
            in_item = group.delimiter() != Delimiter::Brace;
            token.clone()
        }
        TokenTree::Group(_) if is_import(&tokens, at) => token.clone(),
        TokenTree::Group(group) => {
            let mut inner = renamed_self(group.stream(), hygiene);
            if is_formatting(&tokens, at) {
                inner = with_self_as_argument(inner, &this(group.span()));
            }
            grouped(group.delimiter(), inner, group.span())
        }
        TokenTree::Literal(_) => token.clone(),
    });
    renamed.collect()
}

/// Renames `self` in the text of a macro that formats. The text finds no variable with our hygiene, so it gets an argument.
///
/// ```text
/// Input:   "{self:?} {name}"
/// Output:  "{__self:?} {name}", __self = __self
/// ```
fn with_self_as_argument(arguments: TokenStream, this: &Ident) -> TokenStream {
    let mut tokens: Vec<_> = arguments.into_iter().collect();
    let renamed = tokens.iter_mut().any(|token| {
        let TokenTree::Literal(text) = token else {
            return false;
        };
        let typed = text.to_string();
        // Two braces stand for one in the text.
        let parts = typed.split("{{").map(|part| {
            part.replace("{self}", "{__self}")
                .replace("{self:", "{__self:")
        });
        let renamed = parts.collect::<Vec<_>>().join("{{");
        match renamed.parse::<Literal>() {
            Ok(mut renamed_text) if renamed != typed => {
                renamed_text.set_span(text.span());
                *text = renamed_text;
                true
            }
            _ => false,
        }
    });
    let separated = is_punct(tokens.last(), ",");
    let mut arguments = TokenStream::from_iter(tokens);
    if renamed {
        let comma = (!separated).then(|| generated!(,));
        arguments.extend(generated!(#comma #this = #this));
    }
    arguments
}

/// Whether there is a statement or an item in a body, as far as its tokens show.
fn has_statements(body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) => begins_item(word, tokens.get(at + 1)),
        token => is_punct(Some(token), ";"),
    })
}

/// Whether a word is the keyword of an item with a body in braces: the item's name follows.
fn begins_item(word: &Ident, next: Option<&TokenTree>) -> bool {
    is_among(word, "fn impl trait mod struct enum") && matches!(next, Some(TokenTree::Ident(_)))
}

pub(super) fn braced(tokens: TokenStream, span: Span) -> TokenStream {
    grouped(Delimiter::Brace, tokens, span).into()
}
