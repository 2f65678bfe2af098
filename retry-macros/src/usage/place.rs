//! How the tokens around a place use it: an argument `x`, or a field of it, `x.a.b`.

use std::slice::from_ref;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

use super::{Around, Use, names, patterns};
use crate::tokens::{before, delimiter, follows_path, has_word, is_punct, is_text, is_word};

/// How the mention at `at` uses the argument. `apart` says whether the pattern of a `let` takes it apart.
pub(super) fn use_of(at: usize, around: Around<'_>, apart: bool) -> Use {
    let (tokens, (outer, place)) = (around.tokens, around.outer);
    if is_other(tokens, at) {
        return Use::No;
    }
    let end = end_of_fields(tokens, at);
    let used = match end == at {
        _ if !is_by_value(at, end, around) => around.reference.max(Use::Ref),
        false => Use::Part,
        true if apart || !is_given(tokens, at) => Use::Whole,
        true if tokens.len() == 1 && is_call_of("drop", outer, place) => Use::Dropped,
        true => Use::Given,
    };
    used.max(around.least)
}

/// Whether the word at `at` is something else of the same name: a field or method, `a.x` (but `..x` is
/// a struct's base or a range), a path, a macro, a field's name in `Struct { x: … }`.
fn is_other(tokens: &[TokenTree], at: usize) -> bool {
    let (previous, next) = (before(tokens, at, 1), tokens.get(at + 1));
    let member = is_punct(previous, ".") && !is_punct(before(tokens, at, 2), ".");
    let path = follows_path(tokens, at);
    let called = is_punct(next, "!") && delimiter(tokens.get(at + 2)).is_some();
    member || path || called || is_punct(next, ":")
}

/// The index of the last token of the place that begins at `at`: of `b` in `x.a.b.method()`.
fn end_of_fields(tokens: &[TokenTree], at: usize) -> usize {
    let mut end = at;
    while is_punct(tokens.get(end + 1), ".") && method_after(tokens, end).is_none() {
        match tokens.get(end + 2) {
            Some(TokenTree::Ident(_) | TokenTree::Literal(_)) => end += 2,
            _ => break,
        }
    }
    end
}

/// The name in a `.name(…)`, `.name::<…>(…)` or `.await` that follows.
fn method_after(tokens: &[TokenTree], end: usize) -> Option<&TokenTree> {
    let name = tokens.get(end + 2);
    let called = is_word(name, "await")
        || delimiter(tokens.get(end + 3)) == Some(Delimiter::Parenthesis)
        || is_punct(tokens.get(end + 3), ":") && is_punct(tokens.get(end + 4), ":");
    name.filter(|_| is_punct(tokens.get(end + 1), ".") && called)
}

/// Whether the body may use the place from `at` to `end` by value.
fn is_by_value(at: usize, end: usize, around: Around<'_>) -> bool {
    let tokens = around.tokens;
    if let Some(method) = method_after(tokens, end) {
        return names::takes_self(&method.to_string());
    }
    let (previous, next) = (before(tokens, at, 1), tokens.get(end + 1));
    let referenced = is_punct(previous, "&")
        || is_word(previous, "mut const") && is_punct(before(tokens, at, 2), "&");
    let applied = matches!(
        delimiter(next),
        Some(Delimiter::Bracket | Delimiter::Parenthesis)
    );
    // A field is most likely `Copy` in arithmetic, unless a text is added to it, or is assigned to.
    let added = tokens.get(end + 2);
    let lengthened = is_punct(next, "+") && (is_text(added) || is_punct(added, "&"));
    let computed = end != at
        && !lengthened
        && (is_punct(next, "+-*/%&|^<>=!.")
            || is_punct(previous, "!+-*/%.")
            || is_word(next, "as"));
    let compared = compares(tokens, end + 1)
        || is_punct(next, "<>")
        || at.checked_sub(2).is_some_and(|at| compares(tokens, at))
        || is_punct(previous, "<>") && !is_punct(before(tokens, at, 2), "-=");
    let formatted = names::is_formatting(around.outer.0, around.outer.1);
    !(referenced || applied || formatted || computed || compared)
}

/// Whether the name at `at`, which is used by value as a whole, goes to where nothing may ask for its type. A pattern takes
/// references too, unless it only holds something. And rustc refuses to call a method by value of a reference, or to move out
/// of it by `*`.
fn is_given(tokens: &[TokenTree], at: usize) -> bool {
    if let Some(method) = method_after(tokens, at) {
        return method.to_string() == "await" || names::converts(&method.to_string());
    }
    match (before(tokens, at, 1), tokens.get(at + 1)) {
        (previous, _) if is_punct(previous, "*") => false,
        (previous, Some(TokenTree::Group(arms))) if is_word(previous, "match") => {
            patterns::arms_hold(arms.stream())
        }
        // A task would outlive a reference.
        (previous, Some(body)) if is_word(previous, "in") => {
            before(tokens, at, 2).is_some_and(|item| patterns::holds(from_ref(item)))
                || has_word(body, SPAWNS)
        }
        _ => true,
    }
}

/// Whether the group at `at` holds what a task or a thread runs. A scope, which is a value, can lend to its tasks.
pub(super) fn is_spawned(tokens: &[TokenTree], at: usize) -> bool {
    is_call_of(SPAWNS, tokens, at)
}

/// Functions that run a task or a thread.
const SPAWNS: &str = "spawn spawn_blocking spawn_local";

/// Whether the group at `at` holds the arguments of a function of one of these names, and not of a method.
fn is_call_of(names: &str, tokens: &[TokenTree], at: usize) -> bool {
    is_word(before(tokens, at, 1), names)
        && !is_punct(before(tokens, at, 2), ".")
        && delimiter(tokens.get(at)) == Some(Delimiter::Parenthesis)
}

/// Where a place in `self` is first assigned to: `self.count += 1`.
pub(crate) fn assignment_to_self(tokens: TokenStream) -> Option<Span> {
    let tokens = Vec::from_iter(tokens);
    let mut all = tokens.iter().enumerate();
    all.find_map(|(at, token)| match token {
        TokenTree::Group(group) => assignment_to_self(group.stream()),
        TokenTree::Ident(name) if name == "self" => {
            is_assigned(&tokens, at, end_of_fields(&tokens, at)).then(|| name.span())
        }
        _ => None,
    })
}

/// Whether the place from `at` to `end` is assigned to. `name = 1` in a macro assigns nothing.
fn is_assigned(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let (first, second) = (tokens.get(end + 1), tokens.get(end + 2));
    let assigned = is_punct(first, "=") && !is_punct(second, "=>")
        || is_punct(first, "+-*/%&|^") && is_punct(second, "=");
    assigned && (end != at || is_punct(before(tokens, at, 1), "*"))
}

/// Whether a comparison begins at `at`. The `> =` of `let y: Vec<u8> = x` is not the operator `>=`.
fn compares(tokens: &[TokenTree], at: usize) -> bool {
    let first = tokens.get(at);
    matches!(first, Some(TokenTree::Punct(first)) if first.spacing() == Spacing::Joint)
        && is_punct(first, "=!<>")
        && is_punct(tokens.get(at + 1), "=")
}

/// The index after the last token of the closure or block that begins with the `move` at `at`.
pub(super) fn end_of_move(tokens: &[TokenTree], at: usize) -> usize {
    let has_arguments = is_punct(tokens.get(at + 1), "|");
    let last = if has_arguments {
        find(tokens, at + 2, "|")
    } else {
        at
    };
    end_of_expression(tokens, last + 1)
}

/// The index after the last token of a block, or of an expression, which ends at the next comma or semicolon.
pub(super) fn end_of_expression(tokens: &[TokenTree], at: usize) -> usize {
    match delimiter(tokens.get(at)) {
        Some(Delimiter::Brace) => at + 1,
        _ => find(tokens, at, ",;"),
    }
}

/// The index of the first of these punctuation characters from `from` on, or that after the last token.
pub(super) fn find(tokens: &[TokenTree], from: usize, chars: &str) -> usize {
    let mut rest = from..tokens.len();
    let found = rest.find(|&at| is_punct(tokens.get(at), chars));
    found.unwrap_or(tokens.len())
}

/// Whether the `|` at `at` begins the arguments of a closure.
pub(super) fn begins_closure(tokens: &[TokenTree], at: usize) -> bool {
    let previous = before(tokens, at, 1);
    is_punct(tokens.get(at), "|")
        && (previous.is_none()
            || is_punct(previous, "=,;:>&")
            || is_word(previous, "move async return"))
}

/// Whether an attribute has put the `move` block at `at` around the body, as `#[tracing::instrument]` does: what it owns lives
/// as long as the body.
///
/// ```text
/// let __tracing_instrument_future = async move { match async move { BODY }.await { … } };
/// ```
pub(super) fn is_wrapper(at: usize, around: Around<'_>) -> bool {
    let (tokens, (outer, place)) = (around.tokens, around.outer);
    is_bound(tokens, at)
        || is_word(before(tokens, at, 2), "match")
            && place.checked_sub(1).is_some_and(|at| is_bound(outer, at))
}

/// Whether the `move` at `at` begins the block of a generated variable.
fn is_bound(tokens: &[TokenTree], at: usize) -> bool {
    is_word(before(tokens, at, 1), "async")
        && is_punct(before(tokens, at, 2), "=")
        && matches!(before(tokens, at, 3), Some(TokenTree::Ident(name)) if name.to_string().starts_with("__"))
}

/// Whether a `let` at `at` is a statement without an attribute, and not a condition.
pub(super) fn begins_statement(tokens: &[TokenTree], at: usize) -> bool {
    let previous = before(tokens, at, 1);
    previous.is_none() || is_punct(previous, ";") || delimiter(previous) == Some(Delimiter::Brace)
}

/// Whether the token at `at` is a colon, and not one of a `::`.
pub(super) fn is_colon(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |token| is_punct(token, ":");
    is_colon(tokens.get(at)) && !is_colon(tokens.get(at + 1)) && !is_colon(before(tokens, at, 1))
}
