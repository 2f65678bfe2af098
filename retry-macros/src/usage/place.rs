//! How the tokens around a place use it: an argument `x`, or a field of it, `x.a.b`.

use proc_macro2::{Delimiter, Spacing, TokenTree};

use super::{Around, Usage, names, patterns};
use crate::tokens::{
    before, delimiter, follows_path, is_among, is_attribute, is_punct, is_text, is_word,
};

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
    let mut first = at;
    while first > 0 && is_attribute(tokens, first - 1) {
        first -= 2;
    }
    let (previous, next) = (before(tokens, first, 1), tokens.get(end + 1));
    if let Some(method) = method_after(tokens, end) {
        return match method.to_string().as_str() {
            "await" => Usage::UsedUp,
            method if names::takes_self(method) => Usage::HandedOver,
            method if names::may_take_self(method) => Usage::Moved,
            // Most likely by value. In a `move` closure, a reference would give rustc's error and not ours.
            "inner" if around.moves && is_word(previous, "in") => Usage::HandedOver,
            // Of real types, as many take `self` by value as by reference.
            "inner" => Usage::InParts,
            _ => Usage::Borrowed,
        };
    }
    let field = end != at;
    // `for item in x.items {`, `x.text + "more"`.
    let looped = is_word(previous, "in") && delimiter(next) == Some(Delimiter::Brace);
    if field && (looped || is_lengthened(tokens, end)) {
        return Usage::HandedOver;
    }
    let referenced = is_punct(previous, "&")
        || is_word(previous, "mut const") && is_punct(before(tokens, at, 2), "&");
    let applied = match delimiter(next) {
        Some(Delimiter::Bracket | Delimiter::Parenthesis) => true,
        // `match x.kind {`, unless a pattern takes a part of it.
        Some(Delimiter::Brace) => field && !patterns::take(tokens, at, end),
        _ => false,
    };
    let computed = field && is_computed(tokens, at, end);
    let compared = is_compared(tokens, at) || is_compared(tokens, end);
    if referenced || applied || around.formats || computed || compared {
        return Usage::Borrowed;
    }
    let starts = previous.is_none() || is_punct(previous, if field { ",:=" } else { ",:" });
    let ends = next.is_none() || is_punct(next, ",?");
    if around.drops && previous.is_none() && next.is_none() {
        Usage::UsedUp
    } else if around.lists && starts && ends || field && starts && is_punct(next, ";") {
        Usage::HandedOver
    } else {
        Usage::Moved
    }
}

/// Whether the body uses the name at `at` by value, whatever the types are.
pub(super) fn is_moved(tokens: &[TokenTree], at: usize, usage: Usage) -> bool {
    if is_punct(tokens.get(at + 1), ".") {
        let method = method_after(tokens, at).map(ToString::to_string);
        return method.is_some_and(|method| method == "await" || names::converts(&method));
    }
    let assigned = is_punct(before(tokens, at, 1), "=") && is_punct(tokens.get(at + 1), ";");
    usage >= Usage::HandedOver || assigned && !is_punct(before(tokens, at, 2), "=!<>+-*/%&|^")
}

/// Whether a method follows the name at `at` that uses up an `Option`: `x.map(f)`.
pub(super) fn uses_up_option(tokens: &[TokenTree], at: usize) -> bool {
    method_after(tokens, at).is_some_and(|method| names::uses_up_option(&method.to_string()))
}

/// Whether the place from `at` to `end` is assigned to. `name = 1` in a macro assigns nothing.
pub(super) fn is_assigned(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let (first, second) = (tokens.get(end + 1), tokens.get(end + 2));
    let assigned = is_punct(first, "=") && !is_punct(second, "=>")
        || is_punct(first, "+-*/%&|^") && is_punct(second, "=");
    assigned && (end != at || is_punct(before(tokens, at, 1), "*"))
}

/// Whether the place from `at` to `end` is borrowed by `&mut`.
pub(super) fn is_mutably_borrowed(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    is_word(before(tokens, at, 1), "mut") && is_punct(before(tokens, at, 2), "&")
        || is_mutably_viewed(tokens, end)
}

/// Whether a method follows that needs a `&mut`, as in `x.list.as_mut()`. There are types whose `get_mut` does not.
fn is_mutably_viewed(tokens: &[TokenTree], end: usize) -> bool {
    const METHODS: &str = "as_deref_mut as_mut as_mut_slice as_mut_str first_mut iter_mut last_mut";
    is_word(method_after(tokens, end), METHODS)
}

/// Whether the group at `at` is that of an `Ok(…)` which ends a block, or an arm, or follows a `return`.
pub(super) fn is_returned(tokens: &[TokenTree], at: usize) -> bool {
    let next = tokens.get(at + 1);
    let last = next.is_none() || is_punct(next, ",") || is_word(before(tokens, at, 2), "return");
    last && is_word(before(tokens, at, 1), "Ok")
}

/// Whether the group at `at` holds what a task or a thread runs. A scope, which is a value, can lend to its tasks.
pub(super) fn is_spawned(tokens: &[TokenTree], at: usize) -> bool {
    is_word(before(tokens, at, 1), "spawn spawn_blocking spawn_local")
        && !is_punct(before(tokens, at, 2), ".")
}

/// Whether all tokens borrow from the place from `at` to `end`: `&x.list[1]`, `&mut x.list`, `x.list.as_mut().unwrap()`.
pub(super) fn is_borrowed(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let mut rest = tokens.get(end + 1..).unwrap_or_default();
    match tokens.get(..at) {
        Some([and]) if is_punct(Some(and), "&") => {}
        Some([and, word]) if is_punct(Some(and), "&") && is_word(Some(word), "mut") => {}
        Some([]) if is_mutably_viewed(tokens, end) => rest = rest.get(3..).unwrap_or_default(),
        _ => return false,
    }
    rest.iter().all(|token| match token {
        TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
        token => is_punct(Some(token), ".") || is_word(Some(token), "expect unwrap"),
    })
}

/// Whether a field is part of arithmetic, where it is most likely `Copy`, or is assigned to.
fn is_computed(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let (previous, next) = (before(tokens, at, 1), tokens.get(end + 1));
    is_punct(next, "+-*/%&|^<>=!.") || is_punct(previous, "!-*.") || is_word(next, "as")
}

/// Whether a text or a reference is added to the place that ends at `end`, which uses up a `String`.
fn is_lengthened(tokens: &[TokenTree], end: usize) -> bool {
    let added = tokens.get(end + 2);
    is_punct(tokens.get(end + 1), "+") && (is_text(added) || is_punct(added, "&"))
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
