//! Wording: keys and the punctuation around them.

use proc_macro2::TokenStream;

use super::{Message, typed, whole};
use crate::keys::{Grammar, Key};

messages! {
    duplicate(key: &Key) {
        "`{key}` is given twice";
        help "{}", match key.grammar {
            Grammar::Types => format!("write both in one: `{key}(A, B)`"),
            Grammar::Rule => format!("write both in one: `{key}(A, B)`, or `{key} = |error| …`"),
            _ => "keep one of the two".to_owned(),
        };
    }

    /// `attempts(4)`.
    not_a_list(key: &Key, tokens: &TokenStream) {
        "found `(` after `{key}`, expected `=`";
        help "write `{}`", match whole(tokens) {
            text if text.is_empty() => key.example.to_owned(),
            text => format!("{key} = {text}"),
        };
    }

    missing_value(key: &Key) {
        "`{key}` has no value, expected {}", key.kind;
        help "write `{}`", key.example;
    }

    /// `timeout: "1s"`.
    not_equals(key: &Key, found: &str) {
        "found `{found}` after `{key}`, expected `=`";
        help "write `{}`", key.example;
    }

    missing_comma(next: &str) {
        "found `{next}`, expected `,`";
        help "write `, {next}`, or remove it";
    }

    /// A literal in any value.
    long_literal(found: usize, most: usize) {
        "found a literal of {found} bytes, expected at most {most}";
        help "write it as a constant above the function, and name it here";
    }

    stray_comma() {
        "found `,`, expected a key";
        help "remove the comma";
    }
}

/// A value without a key.
pub(crate) fn not_a_key(tokens: &TokenStream) -> Message {
    let text = typed(tokens);
    if text == "," {
        return stray_comma();
    }
    let help = if syn::parse2::<syn::TypePath>(tokens.clone()).is_ok() {
        format!("write `on = {text}`, or several as `on(A, B)`")
    } else {
        "write `key = value`, such as `attempts = 4`".to_owned()
    };
    Message::new(format!("found `{text}`, expected a key")).help(help)
}
