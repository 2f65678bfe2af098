//! The wording of the derive's errors.

use proc_macro2::{Ident, TokenStream};

use super::keys::{Id, Target};
use crate::errors::{messages, typed};
use crate::text;

const VERDICTS: &str =
    "`transient`, `throttled`, `refused`, `conflict`, `permanent`, `unknown` or `forward`";

const METHOD: &str = "a method of the error is `after = \"Self::retry_after\"`";

messages! {
    silent_variant(variant: &Ident) {
        "variant `{variant}` does not say whether it is worth another attempt";
        help "write `#[retryable(transient)]` above it ({VERDICTS}), or once above the enum for all";
    }

    silent_struct() {
        "this error does not say whether it is worth another attempt";
        help "write `#[retryable(transient)]` above it ({VERDICTS})";
    }

    empty() {
        "`#[retryable]` has no verdict, expected one in parentheses";
        help "write `#[retryable(transient)]` ({VERDICTS})";
    }

    not_parentheses(value: &TokenStream) {
        "found `=` after `retryable`, expected parentheses";
        help "write `#[retryable({})]`", typed(value).trim_matches('"');
    }

    after_on_enum(name: &str) {
        "`after = \"{name}\"` above an enum names no field";
        help "write it above the variant that has the field; {METHOD}";
    }

    two_verdicts(first: Id, second: Id, target: Target) {
        "`{}` after `{}`: {} has one verdict", second.key(), first.key(), target.name();
        help "remove one of them";
    }

    no_inner(fields: usize) {
        "`forward` finds {fields} fields here, expected one, or one that is marked";
        help "write `#[retryable(forward)]` above a field, or another verdict here";
    }

    /// A known word at a place where it does not belong.
    not_here(name: &str, target: Target) {
        "`{name}` cannot stand above {}", target.name();
        help "expected {}", text::list(target.words(), " or ");
    }

    unknown_field(name: &str, names: &[&str]) {
        "there is no field `{name}` here";
        help "{}", match names {
            [] => format!("this case has no fields; {METHOD}"),
            names => format!("the fields are {}; {METHOD}", text::list(names, " or ")),
        };
    }

    two_forwards() {
        "`forward` marks two fields, expected one";
        help "remove one of the marks";
    }

    union() {
        "found a union, expected an enum or a struct";
        help "implement `reattempt::Retryable` by hand";
    }

    not_a_word(found: &TokenStream) {
        "found `{}`, expected a word", typed(found);
        help "expected {VERDICTS}, without quotes";
    }

    unknown(name: &str, target: Target) {
        "unknown word `{name}`";
        help "{}expected {}", match text::nearest(name, &mut target.words()).and_then(Id::named) {
            Some(near) => format!("did you mean `{}`? ", near.key().example),
            None => String::new(),
        }, text::list(target.words(), " or ");
    }
}
