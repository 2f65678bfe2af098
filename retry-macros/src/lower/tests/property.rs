//! No input makes the parser panic, and no mistake hides the arguments after it.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use proptest::prelude::*;

use crate::errors::Errors;
use crate::keys::KEYS;
use crate::lower::{VOCABULARY, lower};
use crate::syntax::parse;

fn ident() -> impl Strategy<Value = TokenTree> {
    let keys = KEYS.iter().map(|key| key.name);
    let words = [
        "retries",
        "max_times",
        "io",
        "Error",
        "String",
        "self",
        "Self",
        "async",
        "move",
        "if",
        "_",
        "true",
        "false",
        "full",
        "none",
        "unlimited",
        "MAX",
        "dyn",
        "impl",
        "as",
        "e",
        "Box",
        "fn",
    ];
    let all: Vec<&str> = keys.chain(words).collect();
    prop::sample::select(all).prop_map(|word| Ident::new(word, Span::call_site()).into())
}

fn literal() -> impl Strategy<Value = TokenTree> {
    let text = prop_oneof![
        "[0-9]{0,3}[.,_]?[0-9]{0,3} ?(ns|us|µs|ms|s|m|M|h|d|y|x)?( ?[0-9]{1,20}(s|ns|h))?",
        "-?[0-9]{1,40}",
        "[a-z_]{0,8}(::[A-Za-z]{1,8})?( [|,] [A-Z][a-z]{1,5})?",
        "\\PC{0,12}",
        "[|a-z(). =]{0,12}",
    ];
    let literal = prop_oneof![
        text.prop_map(|text| Literal::string(&text)),
        any::<u64>().prop_map(Literal::u64_unsuffixed),
        any::<u8>().prop_map(Literal::u8_suffixed),
        (0.0_f64..1e9).prop_map(Literal::f64_unsuffixed),
        any::<char>().prop_map(Literal::character),
        any::<Vec<u8>>().prop_map(|bytes| Literal::byte_string(&bytes)),
    ];
    literal.prop_map(TokenTree::from)
}

fn punct() -> impl Strategy<Value = TokenTree> {
    let chars: Vec<char> = "=,:|<>.&!-+*/%^~;#$?@".chars().collect();
    let spacing = prop::sample::select(vec![Spacing::Alone, Spacing::Joint]);
    (prop::sample::select(chars), spacing)
        .prop_map(|(char, spacing)| Punct::new(char, spacing).into())
}

/// `key = value,` as a whole, so that the parser also reads arguments after the first.
fn argument() -> impl Strategy<Value = Vec<TokenTree>> {
    let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    (prop::sample::select(keys), literal()).prop_map(|(key, value)| {
        vec![
            Ident::new(key, Span::call_site()).into(),
            Punct::new('=', Spacing::Alone).into(),
            value,
            Punct::new(',', Spacing::Alone).into(),
        ]
    })
}

pub(crate) fn tokens() -> impl Strategy<Value = TokenStream> {
    let leaf = prop_oneof![
        4 => ident().prop_map(|token| vec![token]),
        3 => literal().prop_map(|token| vec![token]),
        5 => punct().prop_map(|token| vec![token]),
        2 => argument(),
    ];
    let tree = leaf.prop_recursive(4, 48, 8, |inner| {
        let delimiters = vec![
            Delimiter::Parenthesis,
            Delimiter::Bracket,
            Delimiter::Brace,
            Delimiter::None,
        ];
        (
            prop::sample::select(delimiters),
            prop::collection::vec(inner, 0..8),
        )
            .prop_map(|(delimiter, inner)| {
                let inner: TokenStream = inner.into_iter().flatten().collect();
                vec![Group::new(delimiter, inner).into()]
            })
    });
    prop::collection::vec(tree, 0..24).prop_map(|trees| trees.into_iter().flatten().collect())
}

proptest! {
    #[test]
    fn no_token_stream_makes_it_panic(args in tokens()) {
        let mut errors = Errors::default();
        let args = parse(args, &VOCABULARY, &mut errors);
        lower(args, &mut errors);
        if let Some(tokens) = errors.finish() {
            prop_assert!(syn::parse2::<syn::File>(tokens).is_ok());
        }
    }

    /// The parser reads an argument after a comma, whatever stands before the comma.
    #[test]
    fn reading_goes_on_at_the_next_comma(args in tokens()) {
        let mut args = args;
        args.extend(", on_retry = the_last_one".parse::<TokenStream>().unwrap());
        let mut errors = Errors::default();
        let found = parse(args, &VOCABULARY, &mut errors);
        errors.finish();
        prop_assert!(found.iter().any(|arg| arg.name == "on_retry"));
    }
}
