//! The derive as a whole, from tokens to tokens.

use proc_macro2::TokenStream;
use quote::quote;

use super::derive;

/// The texts of the errors in an expansion, in order.
fn messages(input: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(derive(input)).expect("the output is Rust");
    let texts = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Macro(item) => {
            let text: syn::LitStr = item.mac.parse_body().expect("a text");
            Some(text.value())
        }
        _ => None,
    });
    texts.collect()
}

fn first_lines(input: TokenStream) -> Vec<String> {
    messages(input)
        .iter()
        .map(|message| message.lines().next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_expansion_is_one_impl() {
    let expansion = derive(quote! {
        enum Error {
            #[retryable(transient)] Closed,
            #[retryable(throttled, after = "wait")] Busy { wait: Duration },
            #[retryable(forward)] Io(io::Error),
        }
    });
    let expected = quote! {
        #[automatically_derived]
        #[allow(deprecated, reason = "the implementation has to name deprecated variants")]
        impl ::reattempt::Retryable for Error {
            fn verdict(&self) -> ::reattempt::Verdict {
                match self {
                    Self::Closed { .. } => ::reattempt::Verdict::Transient,
                    Self::Busy { .. } => ::reattempt::Verdict::Throttled,
                    Self::Io { 0: __retry_field0, .. } =>
                        <io::Error as ::reattempt::__private::Forwards>::verdict(__retry_field0),
                }
            }
            fn hint(&self) -> ::core::option::Option<::core::time::Duration> {
                match self {
                    Self::Closed { .. } => ::core::option::Option::None,
                    Self::Busy { wait: __retry_field0, .. } => ::reattempt::__private::hint_in(__retry_field0),
                    Self::Io { 0: __retry_field0, .. } =>
                        <io::Error as ::reattempt::__private::Forwards>::hint(__retry_field0),
                }
            }
            fn timed_out(&self) -> ::core::primitive::bool {
                match self {
                    Self::Closed { .. } => false,
                    Self::Busy { .. } => false,
                    Self::Io { 0: __retry_field0, .. } =>
                        <io::Error as ::reattempt::__private::Forwards>::timed_out(__retry_field0),
                }
            }
            fn may_have_run(&self) -> ::core::primitive::bool {
                match self {
                    Self::Closed { .. } => ::reattempt::Verdict::may_have_run(::reattempt::Retryable::verdict(self)),
                    Self::Busy { .. } => ::reattempt::Verdict::may_have_run(::reattempt::Retryable::verdict(self)),
                    Self::Io { 0: __retry_field0, .. } =>
                        <io::Error as ::reattempt::__private::Forwards>::may_have_run(__retry_field0),
                }
            }
        }
    };
    assert_eq!(expansion.to_string(), expected.to_string());
}

#[test]
fn an_error_without_a_hint_has_the_default_method_of_the_trait() {
    let expansion = derive(quote!(
        #[retryable(transient)]
        struct Error;
    ))
    .to_string();
    assert!(!expansion.contains("fn hint"), "{expansion}");
}

#[test]
fn a_mistake_still_gives_an_implementation() {
    let expansion = derive(quote!(
        enum Error {
            Silent,
        }
    ))
    .to_string();
    assert!(expansion.contains("compile_error"), "{expansion}");
    assert!(
        expansion.contains("impl :: reattempt :: Retryable for Error"),
        "{expansion}"
    );
}

#[test]
fn each_mistake_is_reported_once_in_the_order_of_the_source() {
    let input = quote! {
        #[retryable(after)]
        enum Error {
            #[retryable(throtled)] A,
            #[retryable(transient = 1, after = nothing)] B(u8),
            #[retryable(transient)] #[retryable(transient)] C,
            #[retryable(with)] D,
            #[retryable(throttled, after = "a", after = "b")] E { a: Duration, b: Duration },
            #[retryable(forward)] F(#[retryable(refused)] u8, u8),
        }
    };
    assert_eq!(
        first_lines(input),
        [
            "`after` has no value, expected a field's name or the path of a method",
            "unknown word `throtled`",
            "found `1`, expected no value",
            "there is no field `nothing` here",
            "`transient` is given twice",
            "`with` has no value, expected the path of a function that gives a `Verdict`",
            "`after` is given twice",
            "`forward` finds 2 fields here, expected one, or one that is marked",
            "`refused` cannot stand above a field",
        ]
    );
}

#[test]
fn every_message_says_what_to_do() {
    let words = [
        quote!(),
        quote!(,),
        quote!(trasient),
        quote!("transient"),
        quote!(transient transient),
        quote!(transient, ,),
        quote!(throttled after = "wait"),
        quote!(transient = 1),
        quote!(transient(1)),
        quote!(with),
        quote!(with =),
        quote!(with = 1),
        quote!(with()),
        quote!(after),
        quote!(after =),
        quote!(after = "a b"),
        quote!(after = ""),
        quote!(after = 1.5),
        quote!(after = "-1"),
        quote!(after = "x"),
        quote!(after = 18446744073709551616),
        quote!(crate),
        quote!(crate = "a"),
        quote!(1),
        quote!(=),
        quote!(= 1),
        quote!(::a),
        quote!(transient; permanent),
        quote!(r#transient = x),
        quote!(default = transient),
        quote!(forward),
        quote!(transient, permanent),
        quote!('a),
        quote!(#),
        quote!({ transient }),
        quote!(qqqqqqqqqqqqqqqq),
    ];
    for word in words {
        let input = quote!(
            enum Error {
                #[retryable(#word)]
                Case,
                #[retryable(transient)]
                Other,
            }
        );
        let told = messages(input);
        assert!(!told.is_empty(), "nothing is said about `{word}`");
        for message in told {
            let mut lines = message.lines();
            let first = lines.next().unwrap_or_default();
            assert!(first.len() <= 90 && !first.ends_with('.'), "{first}");
            assert!(
                first.starts_with(|c: char| c == '`' || c.is_ascii_lowercase()),
                "{first}"
            );
            assert!(
                lines.next().is_some_and(|help| help.starts_with("help: ")),
                "{message}"
            );
        }
    }
}

#[test]
fn right_attributes_give_no_error() {
    for words in [
        quote!(transient,),
        quote!(r#transient),
        quote!(throttled, after = "wait"),
        quote!(throttled, after = wait),
        quote!(after = "Self::a", throttled),
        quote!(throttled, after = crate::a::b),
        quote!(unknown, after = "r#wait"),
        quote!(with = "a::b"),
        quote!(with = a, after = "wait"),
        quote!(forward, after = "wait"),
    ] {
        let input = quote!(
            enum Error {
                #[retryable(#words)]
                Case { wait: Duration },
            }
        );
        assert_eq!(messages(input), Vec::<String>::new(), "{words}");
    }
}

#[test]
fn a_type_that_ends_in_a_plus_gives_rust() {
    // As text, because rustfmt takes the `+` out of tokens.
    let input = "struct Failed { #[retryable(forward)] source: dyn Error + }";
    assert!(messages(input.parse().unwrap()).is_empty());
}
