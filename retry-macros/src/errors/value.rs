//! Wording: keys and the punctuation around them, values of the wrong kind, and values out of range.

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

    missing_value(key: &Key) {
        "`{key}` has no value, expected {}", key.kind;
        help "write `{}`", key.example;
    }

    /// `timeout: "1s"`, `attempts(4)`.
    not_equals(key: &Key, found: &str, value: &TokenStream) {
        "found `{found}` after `{key}`, expected `=`";
        help "write `{}`", match whole(value) {
            text if text.is_empty() => key.example.to_owned(),
            text => format!("{key} = {text}"),
        };
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

    /// A value that the key does not take.
    wrong(key: &Key, found: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{}`", key.example;
    }

    /// The same, with a better suggestion than the example.
    wrong_but(key: &Key, found: &str, write: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{key} = {write}`";
    }

    /// `timeout = limit?`. A setting can neither return nor await.
    leaves(key: &Key, token: &str, found: &str) {
        "`{token}` cannot be used in a setting, found `{found}`";
        help "take it as an argument, `{key}: …`, and write `{key} = {key}`";
    }

    attempts_zero() {
        "`attempts` is 0, expected at least 1, as the first call counts";
        help "write `attempts = 1` for no retry";
    }

    // Error types: `on`, `unless`.

    no_types(key: &Key) {
        "`{key}` names no type";
        help "write `{}`, or leave it out", key.example;
    }

    not_a_type(found: &str, write: &str) {
        "found `{found}`, expected an error type";
        help "write `{write}`";
    }

    every_error(key: &Key, found: &str) {
        "`{found}` is any error, expected one type";
        help "write `{}`", key.example;
    }

    twice(key: &Key, found: &str) {
        "`{found}` is in `{key}` twice";
        help "remove one of the two";
    }

    /// `budget = Budget::ratio(0.1)`.
    new_budget(found: &str) {
        "`{found}` is a new budget for each call, so it would refuse nothing";
        help "write `static BUDGET: Budget = …;` above the function, and name it here";
    }
}

/// A word that is not in the list of the key.
pub(crate) fn unknown_word(
    key: &Key,
    noun: &str,
    found: &str,
    nearest: Option<String>,
    words: &str,
) -> Message {
    let message = Message::new(format!("unknown {noun} `{found}`"));
    let list = format!("`{key}` is one of {words}");
    match nearest {
        Some(write) => message.help(format!("did you mean {write}?")).note(list),
        None => message.help(list),
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
    } else if text.starts_with("Policy::") {
        format!("write `policy = {text}`")
    } else {
        "write `key = value`, such as `attempts = 4`".to_owned()
    };
    Message::new(format!("found `{text}`, expected a key")).help(help)
}
