//! How a body uses an argument, read off its tokens.
//!
//! Tokens do not know types or scopes, so this errs on the side of *handed over*: for an argument
//! whose type is `Clone` that costs a clone, never a wrong result.

mod names;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tokens::{before, delimiter, is_punct, is_word};

/// How a body uses an argument. Later variants include the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Usage {
    /// Not at all.
    Unmentioned,
    /// Only through references: `&x`, `x.method()`, `x.field`, `x[0]`, `x(…)`, `x == y`, `format!("{x}")`.
    Borrowed,
    /// Perhaps by value: within a `move` block, or where only its type could tell.
    Moved,
    /// By value: `f(x)`, `Some(x)`, `Struct { x }`.
    HandedOver,
    /// To its end: `drop(x)`, `x.await`. A reference to it would not do, even where it compiles.
    UsedUp,
}

/// Reads how `body` uses the argument called `name`.
pub(crate) fn of(name: &str, body: &TokenStream) -> Usage {
    let mut scan = Scan {
        name,
        usage: Usage::Unmentioned,
    };
    scan.tokens(body.clone(), Place::default());
    scan.usage
}

/// Whether `name` is mentioned within a `move` block or closure.
pub(crate) fn in_move_block(name: &str, body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) if word == "move" => {
            let end = end_of_move(&tokens, at);
            let block = tokens
                .get(at..end)
                .unwrap_or_default()
                .iter()
                .cloned()
                .collect();
            of(name, &block) > Usage::Unmentioned
        }
        TokenTree::Group(group) => in_move_block(name, &group.stream()),
        _ => false,
    })
}

/// What surrounds a token.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of a place, and any may be true of it"
)]
struct Place {
    /// Within a `move` block or closure, where every mention is a move.
    moves: bool,
    /// Directly among the arguments of a macro that formats, which takes references.
    formats: bool,
    /// Directly among the arguments of a call or the fields of a literal.
    lists: bool,
    /// Directly within `drop(…)`.
    drops: bool,
}

struct Scan<'a> {
    name: &'a str,
    usage: Usage,
}

impl Scan<'_> {
    fn note(&mut self, usage: Usage, place: Place) {
        let usage = if place.moves {
            usage.max(Usage::Moved)
        } else {
            usage
        };
        self.usage = self.usage.max(usage);
    }

    fn tokens(&mut self, stream: TokenStream, place: Place) {
        let tokens: Vec<_> = stream.into_iter().collect();
        // Up to where the `move` closure or block that was met last reaches.
        let mut moves_until = 0;
        for (at, token) in tokens.iter().enumerate() {
            let place = Place {
                moves: place.moves || at < moves_until,
                ..place
            };
            match token {
                TokenTree::Ident(word) if word == "move" => {
                    moves_until = moves_until.max(end_of_move(&tokens, at));
                }
                TokenTree::Ident(word) if word == self.name => {
                    if let Some(usage) = mention(&tokens, at, place) {
                        self.note(usage, place);
                    }
                }
                TokenTree::Literal(literal) if names_in_braces(&literal.to_string(), self.name) => {
                    self.note(Usage::Borrowed, place);
                }
                TokenTree::Group(group) => {
                    let lists = match group.delimiter() {
                        Delimiter::Parenthesis => follows_callee(&tokens, at),
                        Delimiter::Brace => {
                            matches!(before(&tokens, at, 1), Some(TokenTree::Ident(_)))
                        }
                        Delimiter::Bracket | Delimiter::None => false,
                    };
                    let inner = Place {
                        formats: is_formatting(&tokens, at),
                        lists,
                        drops: lists && is_word(before(&tokens, at, 1), "drop"),
                        ..place
                    };
                    self.tokens(group.stream(), inner);
                }
                _ => {}
            }
        }
    }
}

/// How the mention at `at` uses the argument; `None` where it is another thing of the same name.
fn mention(tokens: &[TokenTree], at: usize, place: Place) -> Option<Usage> {
    let (previous, next) = (before(tokens, at, 1), tokens.get(at + 1));
    // A field or method, `a.x` (but `..x` is a struct's base or a range), a path, a macro, a new binding.
    if is_punct(previous, '.') && !is_punct(before(tokens, at, 2), '.') {
        return None;
    }
    let after_next = tokens.get(at + 2);
    let path = |first, second| is_punct(first, ':') && is_punct(second, ':');
    if path(previous, before(tokens, at, 2)) || path(next, after_next) {
        return None;
    }
    if is_punct(next, '!') && matches!(after_next, Some(TokenTree::Group(_))) {
        return None;
    }
    // A field's name, `Struct { x: … }`, or the type of a binding.
    if is_punct(next, ':') {
        return None;
    }
    if is_word(previous, "let")
        || (is_word(previous, "mut") && is_word(before(tokens, at, 2), "let"))
    {
        return None;
    }
    if is_punct(next, '.') && !is_punct(after_next, '.') {
        return Some(match after_next {
            Some(TokenTree::Ident(method)) if method == "await" => Usage::UsedUp,
            Some(TokenTree::Ident(method)) if names::takes_self(&method.to_string()) => {
                Usage::HandedOver
            }
            Some(TokenTree::Ident(method)) if names::may_take_self(&method.to_string()) => {
                Usage::Moved
            }
            _ => Usage::Borrowed,
        });
    }
    let referenced = is_punct(previous, '&')
        || (is_word(previous, "mut") || is_word(previous, "const"))
            && is_punct(before(tokens, at, 2), '&');
    let applied = matches!(
        delimiter(next),
        Some(Delimiter::Bracket | Delimiter::Parenthesis)
    );
    if referenced || applied || place.formats || is_compared(tokens, at) {
        return Some(Usage::Borrowed);
    }
    let starts = previous.is_none() || is_punct(previous, ',') || is_punct(previous, ':');
    let ends = next.is_none() || is_punct(next, ',') || is_punct(next, '?');
    if place.drops && previous.is_none() && next.is_none() {
        Some(Usage::UsedUp)
    } else if place.lists && starts && ends {
        Some(Usage::HandedOver)
    } else {
        Some(Usage::Moved)
    }
}

/// Whether the token is an operand of a comparison, which takes references.
fn is_compared(tokens: &[TokenTree], at: usize) -> bool {
    let char_at = |index: Option<usize>| match index.and_then(|index| tokens.get(index)) {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    };
    let after = (char_at(at.checked_add(1)), char_at(at.checked_add(2)));
    let before = (char_at(at.checked_sub(2)), char_at(at.checked_sub(1)));
    let compares = |pair| matches!(pair, (Some('=' | '!' | '<' | '>'), Some('=')));
    compares(after)
        || compares(before)
        || matches!(after.0, Some('<' | '>'))
        || matches!(before, (first, Some('<' | '>')) if !matches!(first, Some('-' | '=')))
}

/// Where the closure or block that the `move` at `at` begins ends: an index past its last token.
fn end_of_move(tokens: &[TokenTree], at: usize) -> usize {
    let mut index = at + 1;
    let is_bar = |index: usize| is_punct(tokens.get(index), '|');
    if is_bar(index) {
        index += 1;
        while index < tokens.len() && !is_bar(index) {
            index += 1;
        }
        index += 1;
    }
    if delimiter(tokens.get(index)) == Some(Delimiter::Brace) {
        return index + 1;
    }
    // A closure whose body is an expression: as far as the next comma or semicolon.
    while let Some(token) = tokens.get(index) {
        if matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';')) {
            break;
        }
        index += 1;
    }
    index
}

/// Whether the parentheses at `at` follow the name of a function, or a turbofish.
fn follows_callee(tokens: &[TokenTree], at: usize) -> bool {
    match before(tokens, at, 1) {
        Some(TokenTree::Ident(word)) => ![
            "match", "if", "while", "for", "in", "return", "move", "async",
        ]
        .iter()
        .any(|not| word == not),
        Some(TokenTree::Punct(punct)) => punct.as_char() == '>',
        Some(TokenTree::Group(_)) => true,
        _ => false,
    }
}

/// Whether the group at `at` holds the arguments of a macro that formats or logs.
fn is_formatting(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(before(tokens, at, 1), '!')
        && matches!(before(tokens, at, 2), Some(TokenTree::Ident(name)) if names::formats(&name.to_string()))
}

/// Whether a literal captures `name`, as `"{name}"` and `"{name:?}"` do in a format string.
fn names_in_braces(literal: &str, name: &str) -> bool {
    let name = name.strip_prefix("r#").unwrap_or(name);
    literal.split('{').skip(1).any(|rest| {
        rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['}', ':']))
            // A width or precision: `{:name$}`.
            || rest.split('}').next().is_some_and(|spec| {
                spec.split([':', '.', '<', '>', '^']).any(|part| {
                    part.strip_suffix('$').or_else(|| part.split('$').next().filter(|_| part.contains('$')))
                        == Some(name)
                })
            })
    })
}
