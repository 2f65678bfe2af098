//! How a body uses its arguments, as far as its tokens show. One walk over the body reads all of them.
//!
//! Tokens do not show types. A use that may be by value counts as a use by value. If the type of the
//! argument is `Clone`, this costs a clone, and never gives a wrong result.

mod names;
mod patterns;
mod place;
#[cfg(test)]
mod tests;

pub(crate) use self::names::is_formatting;

use std::collections::HashMap;
use std::mem;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use crate::tokens::{before, is_attribute, is_import, is_punct, is_word, with_bare_places};

/// How a body uses an argument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Usage {
    /// Not at all.
    #[default]
    Unmentioned,
    /// Only through references: `&x`, `x.method()`, `x[0]`, `x(…)`, `x == y`, `format!("{x}")`.
    Borrowed,
    /// Perhaps by value, whole or in part: `f(x)`, `f(x.body)`, a `move` block.
    Moved,
}

/// How a body uses one argument.
#[derive(Debug, Default, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are independent of each other"
)]
pub(crate) struct Uses {
    pub(crate) usage: Usage,
    /// Whether a use by value is one of the whole: `f(x)`, `match x { … }`, but not `f(x.body)`.
    pub(crate) whole: bool,
    /// Where it first goes, as a whole, to where nothing may ask for its type: `f(x)`, `let y = x;`, `(x, 1)`, `x.into()`.
    pub(crate) handed_over: Option<Span>,
    /// Where a `move` block or closure first mentions it, which then owns it.
    pub(crate) moved_in: Option<Span>,
    /// Whether a `move` block or closure mentions it, also one that an attribute puts around the body.
    pub(crate) in_move_block: bool,
    /// Whether an unknown macro mentions it, which may write a `move` closure.
    pub(crate) in_macro: bool,
    /// Whether a task borrows it, which rustc refuses: `tokio::spawn(f(&x))`.
    pub(crate) spawned: bool,
    /// Whether a task owns it: `tokio::spawn(async move { … })`.
    pub(crate) given_to_task: bool,
    /// Where it is dropped: `drop(x)`.
    pub(crate) dropped: Option<Span>,
    /// Where a place in it is first assigned to: `x.count += 1`.
    pub(crate) assigned: Option<Span>,
    /// Whether another variable of its name hides it, while the body is read.
    hidden: bool,
}

/// How a body uses the names that were asked for.
#[derive(Default)]
pub(crate) struct Mentions(HashMap<String, Uses>);

impl Mentions {
    pub(crate) fn of(&self, name: &Ident) -> Uses {
        self.0.get(&name.to_string()).copied().unwrap_or_default()
    }

    pub(crate) fn of_self(&self) -> Uses {
        self.0.get("self").copied().unwrap_or_default()
    }
}

/// Reads how `body` uses the arguments with these names.
pub(crate) fn read(names: impl IntoIterator<Item = String>, body: &TokenStream) -> Mentions {
    let unmentioned = names.into_iter().map(|name| (name, Uses::default()));
    let mut mentions = Mentions(unmentioned.collect());
    mentions.tokens(body.clone(), Around::default());
    mentions
}

/// What surrounds a token.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are independent of each other"
)]
struct Around {
    /// Within a `move` block or closure, where every mention is a move.
    moves: bool,
    /// Within a `move` block that owns what it mentions, unlike that which an attribute puts around the body.
    owns: bool,
    /// Directly in the `move` block that an attribute puts around the body.
    wraps: bool,
    /// Directly among the arguments of a macro that formats, which takes references.
    formats: bool,
    /// Within `tokio::spawn(…)`.
    spawns: bool,
    /// Within an unknown macro.
    macros: bool,
}

/// What has begun among the tokens of a group, and ends at one of them.
#[derive(Default)]
struct Open {
    /// The end of the last `move` closure or block, and of the last that owns what it mentions.
    moves: usize,
    owns: usize,
    /// The end of the pattern of the last `let`.
    pattern: usize,
    /// The value that this pattern takes apart.
    taken_apart: Option<usize>,
    /// The names that this `let` binds, and the end of its statement.
    bound: (usize, Vec<String>),
    /// The arguments that a `let` or the arguments of a closure have hidden, and the end of that group or closure.
    hidden: Vec<(usize, String)>,
}

impl Mentions {
    fn tokens(&mut self, stream: TokenStream, around: Around) {
        let tokens = with_bare_places(stream);
        let mut open = Open::default();
        for (at, token) in tokens.iter().enumerate() {
            if at < open.pattern {
                continue;
            }
            self.show(at, &mut open);
            if at >= open.bound.0 {
                let names = mem::take(&mut open.bound.1);
                self.hide(names, usize::MAX, &mut open);
            }
            let around = Around {
                moves: around.moves || at < open.moves,
                owns: around.owns || at < open.owns,
                ..around
            };
            match token {
                TokenTree::Ident(word) if word == "move" && at >= open.moves => {
                    open.moves = place::end_of_move(&tokens, at);
                    if !place::is_wrapper(&tokens, at, around.wraps) {
                        open.owns = open.moves;
                    }
                }
                TokenTree::Ident(word) if word == "let" => begin_let(&tokens, at, &mut open),
                TokenTree::Ident(word) => {
                    if let Some(uses) = self.visible(&word.to_string()) {
                        uses.mention(&tokens, at, around, open.taken_apart == Some(at));
                    }
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    for name in names::captured(&text) {
                        self.note_captured(name, literal.span(), around);
                    }
                }
                TokenTree::Group(_) if is_attribute(&tokens, at) || is_import(&tokens, at) => {}
                TokenTree::Group(group) => {
                    let called = group.delimiter() == Delimiter::Parenthesis
                        && place::follows_callee(&tokens, at);
                    let inner = Around {
                        wraps: at + 1 == open.moves && at >= open.owns,
                        formats: is_formatting(&tokens, at),
                        spawns: around.spawns || called && place::is_spawned(&tokens, at),
                        macros: around.macros || names::is_unknown_macro(&tokens, at),
                        ..around
                    };
                    let is_method = is_punct(before(&tokens, at, 2), ".");
                    if called && !is_method && is_word(before(&tokens, at, 1), "drop") {
                        self.note_drop(group.stream());
                    }
                    self.tokens(group.stream(), inner);
                }
                TokenTree::Punct(_) => self.begin_closure(&tokens, at, &mut open),
            }
        }
        self.show(usize::MAX, &mut open);
    }

    /// The argument of this name, unless another variable of that name hides it.
    fn visible(&mut self, name: &str) -> Option<&mut Uses> {
        self.0.get_mut(name).filter(|uses| !uses.hidden)
    }

    /// Hides the arguments of these names until `end`.
    fn hide(&mut self, names: Vec<String>, end: usize, open: &mut Open) {
        for name in names {
            if let Some(uses) = self.visible(&name) {
                uses.hidden = true;
                open.hidden.push((end, name));
            }
        }
    }

    /// Shows again what is hidden until `at`.
    fn show(&mut self, at: usize, open: &mut Open) {
        while open.hidden.last().is_some_and(|(end, _)| *end <= at) {
            let shown = open.hidden.pop();
            if let Some(uses) = shown.and_then(|(_, name)| self.0.get_mut(&name)) {
                uses.hidden = false;
            }
        }
    }

    /// Reads the arguments of the closure that may begin at `at`. They hide arguments of the function until it ends.
    fn begin_closure(&mut self, tokens: &[TokenTree], at: usize, open: &mut Open) {
        if !place::begins_closure(tokens, at) {
            return;
        }
        let bars = (at + 1..tokens.len()).find(|&bar| is_punct(tokens.get(bar), "|"));
        let Some(bar) = bars else { return };
        open.pattern = bar + 1;
        let mut names = Vec::new();
        patterns::bind_arguments(tokens.get(at + 1..bar).unwrap_or_default(), &mut names);
        if names.iter().any(|name| self.visible(name).is_some()) {
            let end = place::end_of_expression(tokens, bar + 1);
            self.hide(names, end, open);
        }
    }

    /// Notes that a text captures a name. The text of a raw name has no `r#`.
    fn note_captured(&mut self, name: &str, at: Span, around: Around) {
        for name in [name, &format!("r#{name}")] {
            if let Some(uses) = self.visible(name) {
                uses.note(Usage::Borrowed, at, around);
            }
        }
    }

    fn note_drop(&mut self, dropped: TokenStream) {
        if let [TokenTree::Ident(name)] = &*with_bare_places(dropped) {
            if let Some(uses) = self.visible(&name.to_string()) {
                uses.dropped = uses.dropped.or(Some(name.span()));
            }
        }
    }
}

impl Uses {
    /// Whether the body may move a `&mut`, so that it needs one of its own. A field can be moved without that.
    pub(crate) fn is_reborrowed(&self) -> bool {
        self.whole || self.in_move_block || self.in_macro
    }

    fn note(&mut self, usage: Usage, at: Span, around: Around) {
        let moved = if around.moves { Usage::Moved } else { usage };
        self.usage = self.usage.max(moved);
        self.in_move_block |= around.moves;
        self.in_macro |= around.macros;
        self.given_to_task |= around.owns && around.spawns;
        if around.owns {
            self.moved_in = self.moved_in.or(Some(at));
        }
    }

    /// Notes how the mention at `at` uses the argument.
    fn mention(&mut self, tokens: &[TokenTree], at: usize, around: Around, is_taken_apart: bool) {
        let Some(span) = tokens.get(at).map(TokenTree::span) else {
            return;
        };
        if place::is_other(tokens, at) {
            return;
        }
        let end = place::end_of_fields(tokens, at);
        if place::is_assigned(tokens, at, end) {
            self.assigned = self.assigned.or(Some(span));
        }
        let usage = place::usage_of(tokens, at, end, around);
        self.note(usage, span, around);
        self.spawned |= around.spawns && !around.moves && usage == Usage::Borrowed;
        let is_whole = end == at && usage == Usage::Moved;
        self.whole |= is_whole;
        if is_whole && !is_taken_apart && place::is_handed_over(tokens, at) {
            self.handed_over = self.handed_over.or(Some(span));
        }
    }
}

/// Reads the pattern of the `let` at `at`, and the names that it binds from the end of its statement.
fn begin_let(tokens: &[TokenTree], at: usize, open: &mut Open) {
    let is_end = |end: &usize, chars| is_punct(tokens.get(*end), chars);
    let end = (at + 1..tokens.len()).find(|end| is_end(end, "=;"));
    open.pattern = end.unwrap_or(tokens.len());
    let pattern = tokens.get(at + 1..open.pattern).unwrap_or_default();
    let ty = (0..pattern.len()).find(|&at| place::is_colon(pattern, at));
    let pattern = pattern.get(..ty.unwrap_or(pattern.len()));
    let pattern = pattern.unwrap_or_default();
    if patterns::takes_apart(pattern) {
        open.taken_apart = Some(open.pattern + 1);
    }
    if place::begins_statement(tokens, at) {
        let end = (open.pattern..tokens.len()).find(|end| is_end(end, ";"));
        open.bound = (end.unwrap_or(tokens.len()), Vec::new());
        patterns::bind(pattern, &mut open.bound.1);
    }
}
