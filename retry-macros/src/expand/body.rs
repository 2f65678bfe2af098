//! The user's body as the block of an attempt.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::arguments::Plan;
use crate::item::{self, Function};

/// ```text
/// Output: { if false { BORROWS return typed::<io::Result<T>>(); } REBORROWS { BODY } }
/// ```
pub(super) fn attempt(
    function: &Function,
    plan: &Plan,
    body: &TokenStream,
    plumbing: Span,
) -> TokenStream {
    let typed = typed_return(&item::without_impl(&function.output));
    let body = if plan.rename_self {
        renamed_self(body.clone(), plumbing)
    } else {
        body.clone()
    };
    // An item before a body that is one expression: rustc finds the braces round it unnecessary.
    let lone = !has_semicolon(&body);
    let item = lone.then(|| quote_spanned!(plumbing=> const _: () = ();));
    let Plan { never, within, .. } = plan;
    // In the user's braces: rustc's "expected `Result`, found `()`" and "use of moved value" belong
    // on the body. In braces of its own: an item in it comes after no statement of ours.
    let block = braced(quote!(#item #body), function.braces);
    braced(
        quote_spanned!(plumbing=> if false { #never #typed } #within #block),
        function.braces,
    )
}

/// A `return` that is never reached and gives the block its type, so that the body's last expression is
/// coerced as it would be in the plain function.
pub(super) fn typed_return(output: &syn::Type) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> return __retry::typed::<#output>();)
}

/// `self` as `__self`, except within items of their own. `hygiene` is where that name is bound.
pub(super) fn renamed_self(body: TokenStream, hygiene: Span) -> TokenStream {
    let mut tokens = body.into_iter().peekable();
    let mut renamed = TokenStream::new();
    let mut in_item = false;
    while let Some(token) = tokens.next() {
        let token = match token {
            TokenTree::Ident(word) if word == "self" => {
                TokenTree::Ident(Ident::new("__self", hygiene.located_at(word.span())))
            }
            TokenTree::Ident(word) => {
                let names_next = matches!(tokens.peek(), Some(TokenTree::Ident(_)));
                in_item |= (word == "fn" || word == "impl" || word == "trait" || word == "mod")
                    && names_next;
                TokenTree::Ident(word)
            }
            TokenTree::Group(group) if in_item => {
                in_item = group.delimiter() != proc_macro2::Delimiter::Brace;
                TokenTree::Group(group)
            }
            TokenTree::Group(group) => {
                let mut inner =
                    Group::new(group.delimiter(), renamed_self(group.stream(), hygiene));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        };
        renamed.extend([token]);
    }
    renamed
}

fn has_semicolon(body: &TokenStream) -> bool {
    let mut tokens = body.clone().into_iter();
    tokens.any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'))
}

pub(super) fn braced(tokens: TokenStream, span: Span) -> TokenStream {
    let mut group = Group::new(proc_macro2::Delimiter::Brace, tokens);
    group.set_span(span);
    TokenTree::Group(group).into()
}
