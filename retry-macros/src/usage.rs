//! How a body uses an argument, as far as its tokens show.
//!
//! Tokens do not show types. A use that may be by value counts as a use by value. If the type of the
//! argument is `Clone`, this costs a clone, and never gives a wrong result.

mod names;
mod patterns;
mod place;
mod scope;
#[cfg(test)]
mod tests;

pub(crate) use self::names::is_formatting;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::Attribute;

use crate::tokens::{
    before, delimiter, is_attribute, is_import, is_punct, is_word, with_bare_places,
};

/// How a body uses an argument. Later variants include earlier ones.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Usage {
    /// Not at all.
    #[default]
    Unmentioned,
    /// Only through references: `&x`, `x.method()`, `x[0]`, `x(…)`, `x == y`, `format!("{x}")`.
    Borrowed,
    /// A part of it, perhaps by value: `f(x.body)`, `x.inner()`.
    InParts,
    /// Perhaps by value: within a `move` block, or where the answer depends on its type.
    Moved,
    /// By value: `f(x)`, `Some(x)`, `Struct { x }`.
    HandedOver,
    /// Used up: `drop(x)`, `x.await`. An attempt must not get a reference instead, even if that compiles.
    UsedUp,
}

/// How a body uses one argument.
#[derive(Default)]
pub(crate) struct Uses {
    name: String,
    pub(crate) usage: Usage,
    /// The usage if a `move` block counts as any other block.
    pub(crate) apart_from_moves: Usage,
    /// Whether a `move` block or closure mentions it.
    pub(crate) in_move_block: bool,
    /// The fields that are used by value: `x.body` in `f(x.body)`, or in `if let Some(body) = x.body`. Empty if the body binds
    /// the name anew, because a field may then belong to the new binding.
    pub(crate) fields: Vec<MovedField>,
    /// Where it is first used by value as a whole, whatever the types are: `f(x)`, `let y = x;`, `x.into()`.
    pub(crate) whole: Option<Span>,
    /// Where a method first follows it that uses up an `Option`: `x.map(f)`.
    pub(crate) as_option: Option<Span>,
    /// Where it is dropped: `drop(x)`.
    pub(crate) dropped: Option<Span>,
    /// Whether a task borrows it, which rustc refuses: `tokio::spawn(f(&x))`.
    pub(crate) spawned: bool,
    /// Where a place in it is first assigned to: `x.count += 1`.
    pub(crate) assigned: Option<Span>,
    /// The places in it that are changed, whatever the types are: `x.count += 1`, `&mut x.list`.
    changed: Vec<String>,
    /// The places in it that the result borrows: `Ok(&x.list)`.
    returned: Vec<(String, Span)>,
    /// Whether a pattern may take a part of a field by value.
    pub(crate) taken_apart: bool,
    /// The `cfg` attributes around the tokens that are being read.
    cfg: Vec<Attribute>,
}

/// A field of an argument, as the body names it.
pub(crate) struct MovedField {
    /// The `cfg` attributes of the code around it.
    pub(crate) cfg: Vec<Attribute>,
    /// `x.body`.
    pub(crate) field: TokenStream,
}

/// Reads how `body` uses the argument called `name`.
pub(crate) fn read(name: &str, body: &TokenStream) -> Uses {
    let mut uses = Uses {
        name: name.to_owned(),
        ..Uses::default()
    };
    uses.tokens(body.clone(), Around::default());
    if !uses.fields.is_empty() && scope::is_rebound(name, body) {
        uses.fields.clear();
    }
    uses
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
    /// Directly among the arguments of a macro that formats, which takes references.
    formats: bool,
    /// Directly among the arguments of a call or the fields of a literal.
    lists: bool,
    /// Directly within `drop(…)`.
    drops: bool,
    /// Directly within the `Ok(…)` that a block or the function returns.
    returns: bool,
    /// Within `tokio::spawn(…)`.
    spawns: bool,
}

impl Uses {
    fn tokens(&mut self, stream: TokenStream, around: Around) {
        let tokens = with_bare_places(stream);
        // The end of the last `move` closure or block.
        let mut moves_until = 0;
        // The end of the pattern of the last `let`, and the first token for which a `let` hides the argument.
        let mut pattern_until = 0;
        let mut hidden_from = usize::MAX;
        // The end of what the last `cfg` belongs to, and whether a `let` with a `cfg` hides the argument.
        let mut cfg_until = 0;
        let cfg_around = self.cfg.len();
        let mut hidden_by_cfg = false;
        for (at, token) in tokens.iter().enumerate() {
            if at >= hidden_from {
                break;
            }
            if at == cfg_until {
                self.cfg.truncate(cfg_around);
            }
            if at < pattern_until {
                continue;
            }
            let around = Around {
                moves: around.moves || at < moves_until,
                ..around
            };
            match token {
                TokenTree::Ident(word) if word == "move" => {
                    moves_until = moves_until.max(end_of_move(&tokens, at));
                }
                TokenTree::Ident(word) if word == "let" => {
                    pattern_until = scope::pattern_end(&tokens, at);
                    if let Some(from) = scope::hidden_from(&tokens, at, &self.name) {
                        // The first `let` may be left out. Of two, such as those with `cfg(unix)` and `cfg(not(unix))`,
                        // one is there.
                        if hidden_by_cfg || at >= cfg_until {
                            hidden_from = from.min(hidden_from);
                        }
                        hidden_by_cfg = true;
                    }
                }
                TokenTree::Ident(word) if *word == self.name => self.mention(&tokens, at, around),
                TokenTree::Literal(literal)
                    if names::in_braces(&literal.to_string(), &self.name) =>
                {
                    self.note(Usage::Borrowed, around);
                }
                TokenTree::Group(group) if is_attribute(&tokens, at) => {
                    let cfg = scope::cfg(group);
                    if !cfg.is_empty() {
                        self.cfg.extend(cfg);
                        cfg_until = scope::end_of_attributed(&tokens, at);
                    }
                }
                TokenTree::Group(_) if is_import(&tokens, at) => {}
                TokenTree::Group(group) => {
                    let previous = before(&tokens, at, 1);
                    let lists = match group.delimiter() {
                        Delimiter::Parenthesis => {
                            place::follows_callee(&tokens, at) || names::makes_error(&tokens, at)
                        }
                        Delimiter::Brace => matches!(previous, Some(TokenTree::Ident(_))),
                        Delimiter::Bracket | Delimiter::None => false,
                    };
                    let inner = Around {
                        formats: is_formatting(&tokens, at),
                        lists,
                        drops: lists
                            && is_word(previous, "drop")
                            && !is_punct(before(&tokens, at, 2), "."),
                        returns: lists && place::is_returned(&tokens, at),
                        spawns: around.spawns || lists && place::is_spawned(&tokens, at),
                        ..around
                    };
                    self.tokens(group.stream(), inner);
                }
                _ => {}
            }
        }
        self.cfg.truncate(cfg_around);
    }

    fn note(&mut self, usage: Usage, around: Around) {
        let moved = match (around.moves, around.spawns) {
            // No reference to an argument lives as long as a task may.
            (true, true) => Usage::UsedUp,
            (true, false) => Usage::Moved,
            (false, _) => usage,
        };
        self.usage = self.usage.max(usage).max(moved);
        self.apart_from_moves = self.apart_from_moves.max(usage);
        self.in_move_block |= around.moves;
    }

    /// Where the result borrows from a place that an attempt changes, so that the next attempt cannot have it.
    pub(crate) fn result_borrows(&self) -> Option<Span> {
        let conflicts = |(place, _): &&(String, Span)| {
            let mut changed = self.changed.iter();
            changed.any(|changed| changed.starts_with(place) || place.starts_with(changed))
        };
        self.returned.iter().find(conflicts).map(|(_, at)| *at)
    }

    /// Notes whether the place from `at` to `end` is changed, and whether the result borrows it.
    fn note_borrow(&mut self, tokens: &[TokenTree], at: usize, end: usize, around: Around) {
        // Code with a `cfg` may not be there.
        let place = tokens.get(at..=end).filter(|_| self.cfg.is_empty());
        let Some(place @ [first, ..]) = place else {
            return;
        };
        // The dot keeps `x.a` apart from `x.ab`.
        let written: String = place
            .iter()
            .map(ToString::to_string)
            .chain([".".to_owned()])
            .collect();
        let assigned = place::is_assigned(tokens, at, end);
        if assigned || place::is_mutably_borrowed(tokens, at, end) {
            self.changed.push(written.clone());
        }
        self.assigned = self.assigned.or(Some(first.span()).filter(|_| assigned));
        if around.returns && place::is_borrowed(tokens, at, end) {
            self.returned.push((written, first.span()));
        }
    }

    /// Notes how the mention at `at` uses the argument.
    fn mention(&mut self, tokens: &[TokenTree], at: usize, around: Around) {
        if place::is_other(tokens, at) {
            return;
        }
        let end = place::end_of_fields(tokens, at);
        self.note_borrow(tokens, at, end, around);
        let usage = place::usage_of(tokens, at, end, around);
        self.spawned |= around.spawns && !around.moves && usage == Usage::Borrowed;
        if end == at {
            let handed_on = Some(Usage::HandedOver).filter(|_| patterns::hand_on(tokens, at));
            self.note(usage.max(handed_on.unwrap_or_default()), around);
            // Code with a `cfg` may not be there.
            let here = tokens.get(at).filter(|_| self.cfg.is_empty());
            let here_if = |uses_up: bool| here.filter(|_| uses_up).map(TokenTree::span);
            let whole = here_if(place::is_moved(tokens, at, usage));
            let as_option = here_if(place::uses_up_option(tokens, at));
            let dropped = here_if(around.drops && tokens.len() == 1);
            self.whole = self.whole.or(whole);
            self.as_option = self.as_option.or(as_option);
            self.dropped = self.dropped.or(dropped);
            return;
        }
        // The tokens do not show whether a field is `Copy`.
        self.note(usage.min(Usage::InParts), around);
        self.taken_apart |= patterns::take(tokens, at, end);
        let place = tokens.get(at..=end).unwrap_or_default();
        if usage >= Usage::HandedOver || patterns::take_option(tokens, at, end) {
            self.fields.push(MovedField {
                cfg: self.cfg.clone(),
                field: place.iter().cloned().collect(),
            });
        }
    }
}

/// The index after the last token of the closure or block that begins with the `move` at `at`.
fn end_of_move(tokens: &[TokenTree], at: usize) -> usize {
    let mut index = at + 1;
    let is_bar = |index: usize| is_punct(tokens.get(index), "|");
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
    // The closure's body is an expression, which ends at the next comma or semicolon.
    let rest = tokens.iter().skip(index);
    index
        + rest
            .take_while(|token| !is_punct(Some(token), ",;"))
            .count()
}
