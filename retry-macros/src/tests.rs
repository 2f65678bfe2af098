//! Tests the macro as a whole: its expansion, its recovery from mistakes, and its documentation.

mod documentation;
mod expansion;
mod given;
mod recovery;
mod refused;
mod steps;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Expands the first attribute of an item, which is `#[retry…]`.
fn expand(annotated: &str) -> TokenStream {
    let mut tokens = annotated.parse::<TokenStream>().unwrap().into_iter();
    assert_eq!(tokens.next().unwrap().to_string(), "#");
    let Some(TokenTree::Group(attribute)) = tokens.next() else {
        panic!("{annotated}");
    };
    let mut attribute = attribute.stream().into_iter();
    assert_eq!(attribute.next().unwrap().to_string(), "retry");
    let args = match attribute.next() {
        Some(TokenTree::Group(args)) if args.delimiter() == Delimiter::Parenthesis => args.stream(),
        None => TokenStream::new(),
        other => panic!("{other:?}"),
    };
    crate::attribute::retry(args, &tokens.collect())
}

/// Expands `run!(…)`.
fn expand_run(typed: &str) -> TokenStream {
    match typed.parse::<TokenStream>().unwrap().into_iter().last() {
        Some(TokenTree::Group(input)) => crate::closure::run(&input.stream()),
        other => panic!("{other:?}"),
    }
}
