//! How the tokens around a place use it: an argument `x`, or a field of it, `x.a.b`.

use proc_macro2::{Delimiter, Spacing, TokenTree};

use super::{Around, Usage, names, patterns};
use crate::tokens::{before, delimiter, follows_path, is_among, is_punct, is_text, is_word};

/// Whether the word at `at` is something else of the same name: a field or method, `a.x` (but `..x` is
/// a struct's base or a range), a path, a macro, a field's name in `Struct { x: … }`, a new binding.
pub(super) fn is_other(tokens: &[TokenTree], at: usize) -> bool {
    let (previous, next) = (before(tokens, at, 1), tokens.get(at + 1));
    let member = is_punct(previous, ".") && !is_punct(before(tokens, at, 2), ".");
    let path = follows_path(tokens, at);
    let called = is_punct(next, "!") && delimiter(tokens.get(at + 2)).is_some();
    let bound = is_word(previous, "let")
        || is_word(previous, "mut") && is_word(before(tokens, at, 2), "let");
    member || path || called || bound || is_punct(next, ":")
}

/// The index of the last token of the place that begins at `at`: of `b` in `x.a.b.method()`.
pub(super) fn end_of_fields(tokens: &[TokenTree], at: usize) -> usize {
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

/// How the body uses the place from `at` to `end`.
pub(super) fn usage_of(tokens: &[TokenTree], at: usize, end: usize, around: Around) -> Usage {
    let (previous, next) = (before(tokens, at, 1), tokens.get(end + 1));
    if let Some(method) = method_after(tokens, end) {
        let by_value = names::takes_self(&method.to_string());
        return if by_value {
            Usage::Moved
        } else {
            Usage::Borrowed
        };
    }
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
    let compared = is_compared(tokens, at) || is_compared(tokens, end);
    if referenced || applied || around.formats || computed || compared {
        Usage::Borrowed
    } else {
        Usage::Moved
    }
}

/// Whether the name at `at`, which is used by value as a whole, goes to where nothing may ask for its type. A pattern takes
/// references too, unless it only holds something. And rustc refuses to call a method by value of a reference, or to move out
/// of it by `*`.
pub(super) fn is_handed_over(tokens: &[TokenTree], at: usize) -> bool {
    if let Some(method) = method_after(tokens, at) {
        return method.to_string() == "await" || names::converts(&method.to_string());
    }
    match (before(tokens, at, 1), tokens.get(at + 1)) {
        (Some(TokenTree::Punct(star)), _) if star.as_char() == '*' => false,
        (Some(word), Some(TokenTree::Group(arms))) if is_word(Some(word), "match") => {
            patterns::arms_hold(arms.stream())
        }
        (Some(word), Some(_)) if is_word(Some(word), "in") => {
            let item = at.checked_sub(2).and_then(|item| tokens.get(item..=item));
            patterns::holds(item.unwrap_or_default())
        }
        _ => true,
    }
}

/// Whether the group at `at` holds what a task or a thread runs. A scope, which is a value, can lend to its tasks.
pub(super) fn is_spawned(tokens: &[TokenTree], at: usize) -> bool {
    is_word(before(tokens, at, 1), "spawn spawn_blocking spawn_local")
        && !is_punct(before(tokens, at, 2), ".")
}

/// Whether the place from `at` to `end` is assigned to. `name = 1` in a macro assigns nothing.
pub(super) fn is_assigned(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let (first, second) = (tokens.get(end + 1), tokens.get(end + 2));
    let assigned = is_punct(first, "=") && !is_punct(second, "=>")
        || is_punct(first, "+-*/%&|^") && is_punct(second, "=");
    assigned && (end != at || is_punct(before(tokens, at, 1), "*"))
}

/// Whether the token is an operand of a comparison, which takes references.
fn is_compared(tokens: &[TokenTree], at: usize) -> bool {
    // The `> =` of `let y: Vec<u8> = x` is not the operator `>=`.
    let is_joint = |index| match tokens.get(index) {
        Some(TokenTree::Punct(first)) => first.spacing() == Spacing::Joint,
        _ => false,
    };
    let compares = |first: usize| {
        is_joint(first)
            && is_punct(tokens.get(first), "=!<>")
            && is_punct(tokens.get(first + 1), "=")
    };
    compares(at + 1)
        || at.checked_sub(2).is_some_and(compares)
        || is_punct(tokens.get(at + 1), "<>")
        || is_punct(before(tokens, at, 1), "<>") && !is_punct(before(tokens, at, 2), "-=")
}

/// Whether the parentheses at `at` follow the name of a function, or a turbofish.
pub(super) fn follows_callee(tokens: &[TokenTree], at: usize) -> bool {
    match before(tokens, at, 1) {
        Some(TokenTree::Ident(word)) => !is_among(word, "match if while for in return move async"),
        Some(TokenTree::Group(_)) => true,
        previous => is_punct(previous, ">"),
    }
}

/// The index after the last token of the closure or block that begins with the `move` at `at`.
pub(super) fn end_of_move(tokens: &[TokenTree], at: usize) -> usize {
    let bars = (at + 2..tokens.len()).find(|&bar| is_punct(tokens.get(bar), "|"));
    let body = match bars {
        Some(bar) if is_punct(tokens.get(at + 1), "|") => bar + 1,
        _ => at + 1,
    };
    end_of_expression(tokens, body)
}

/// The index after the last token of a block, or of an expression, which ends at the next comma or semicolon.
pub(super) fn end_of_expression(tokens: &[TokenTree], at: usize) -> usize {
    if delimiter(tokens.get(at)) == Some(Delimiter::Brace) {
        return at + 1;
    }
    let mut rest = at..tokens.len();
    let end = rest.find(|&end| is_punct(tokens.get(end), ",;"));
    end.unwrap_or(tokens.len())
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
/// as long as the body. `wraps` says whether the block is directly in another such block.
///
/// ```text
/// let __tracing_instrument_future = async move { match async move { BODY }.await { … } };
/// ```
pub(super) fn is_wrapper(tokens: &[TokenTree], at: usize, wraps: bool) -> bool {
    let is_generated = matches!(before(tokens, at, 3), Some(TokenTree::Ident(name)) if name.to_string().starts_with("__"));
    is_word(before(tokens, at, 1), "async")
        && (is_punct(before(tokens, at, 2), "=") && is_generated
            || is_word(before(tokens, at, 2), "match") && wraps)
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
