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
pub(crate) use self::place::assignment_to_self;

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

use crate::tokens::{is_attribute, is_import, with_bare_places};

/// What a body does with an argument. Of several uses, the last in this list counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Nothing.
    #[default]
    No,
    /// It uses references: `&x`, `x.method()`, `x[0]`, `x(…)`, `x == y`, `format!("{x}")`.
    Ref,
    /// An unknown macro uses references, and may write them into a `move` closure.
    Macro,
    /// A task borrows it, which rustc refuses: `tokio::spawn(f(&x))`.
    Lent,
    /// It may use a part by value: `f(x.body)`.
    Part,
    /// It may use the whole by value, where rustc would refuse a reference or take it: `match x { … }`, `x.unwrap()`. So does a
    /// `move` block that an attribute puts around the body.
    Whole,
    /// A `move` block or closure owns it.
    Moved,
    /// It goes, as a whole, to where nothing may ask for its type: `f(x)`, `let y = x;`, `(x, 1)`, `x.into()`.
    Given,
    /// A task owns it: `tokio::spawn(async move { … })`.
    Task,
    /// `drop(x)`.
    Dropped,
}

/// The use that counts, and where the first such use is.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Mention {
    pub(crate) used: Use,
    pub(crate) at: Option<Span>,
    /// Whether the call may hold a reference to it while attempts run.
    pub(crate) held: bool,
}

/// How a body uses the names that were asked for. While the body is read, without those that another variable hides.
pub(crate) struct Mentions(HashMap<String, Mention>);

impl Mentions {
    pub(crate) fn of(&self, name: &Ident) -> Mention {
        self.0.get(&name.to_string()).copied().unwrap_or_default()
    }
}

/// Reads how `body` uses the arguments with these names. The call may hold what `held` mentions.
pub(crate) fn read(
    names: impl Iterator<Item = String>,
    body: &TokenStream,
    held: &TokenStream,
) -> Mentions {
    let mut mentions = Mentions(names.map(|name| (name, Mention::default())).collect());
    mentions.group(held.clone(), Around::default());
    for mention in mentions.0.values_mut() {
        mention.held = mem::take(&mut mention.used) != Use::No;
    }
    mentions.group(body.clone(), Around::default());
    mentions
}

/// What surrounds a token.
#[derive(Clone, Copy, Default)]
struct Around<'t> {
    /// The group that the token is directly in.
    tokens: &'t [TokenTree],
    /// The place of that group: among these tokens, at this index.
    outer: (&'t [TokenTree], usize),
    /// The use that each mention is at least: in a `move` block or closure, every mention is a move.
    least: Use,
    /// The use that a reference is: in a macro, or in `tokio::spawn(…)`.
    reference: Use,
}

impl Mentions {
    fn group(&mut self, stream: TokenStream, around: Around<'_>) {
        let tokens = &with_bare_places(stream);
        self.read(0..tokens.len(), Around { tokens, ..around });
    }

    /// Reads some tokens of a group. A `let` among them hides arguments until their end.
    fn read(&mut self, range: Range<usize>, around: Around<'_>) {
        let Range { start: mut at, end } = range;
        let (tokens, mut hidden) = (around.tokens, Vec::new());
        while let Some(token) = tokens.get(at).filter(|_| at < end) {
            let next = at + 1;
            at = match token {
                TokenTree::Ident(word) if word == "move" => self.moved(at, around),
                TokenTree::Ident(word) if word == "let" => self.bound(at, around, &mut hidden),
                TokenTree::Ident(_) => {
                    self.mention(at, around, false);
                    next
                }
                TokenTree::Literal(literal) => {
                    let used = around.least.max(around.reference).max(Use::Ref);
                    // The text of a raw name has no `r#`.
                    for name in names::captured(&literal.to_string()) {
                        for name in [name, &format!("r#{name}")] {
                            self.note(name, || used, literal.span());
                        }
                    }
                    next
                }
                TokenTree::Group(_) if is_attribute(tokens, at) || is_import(tokens, at) => next,
                TokenTree::Group(group) => {
                    self.group(group.stream(), around.within(at));
                    next
                }
                TokenTree::Punct(_) if place::begins_closure(tokens, at) => {
                    self.closure(at, around)
                }
                TokenTree::Punct(_) => next,
            };
        }
        self.0.extend(hidden);
    }

    /// Reads a `move` block or closure. Returns where it ends.
    fn moved(&mut self, at: usize, around: Around<'_>) -> usize {
        let moved = match around.reference {
            _ if place::is_wrapper(at, around) => Use::Whole,
            Use::Lent => Use::Task,
            _ => Use::Moved,
        };
        let least = around.least.max(moved);
        let end = place::end_of_move(around.tokens, at);
        self.read(at + 1..end, Around { least, ..around });
        end
    }

    /// Reads a `let` and, if it is a statement, its value. Returns where that ends, and adds what is `hidden` from there.
    fn bound(&mut self, at: usize, around: Around<'_>, hidden: &mut Hidden) -> usize {
        let tokens = around.tokens;
        let end = place::find(tokens, at + 1, "=;");
        let ty = (at + 1..end).find(|&at| place::is_colon(tokens, at));
        let pattern = tokens.get(at + 1..ty.unwrap_or(end)).unwrap_or_default();
        let is_statement = place::begins_statement(tokens, at);
        // The parts that a `let` within the body binds end before the body does.
        let is_outermost = around.outer.0.is_empty() || !is_statement;
        let is_read =
            is_outermost && patterns::takes_apart(pattern) && self.mention(end + 1, around, true);
        let value = end + 1 + usize::from(is_read);
        if !is_statement {
            return value;
        }
        let end = place::find(tokens, end, ";");
        self.read(value..end, around);
        hidden.extend(self.hide(pattern));
        end
    }

    /// Reads a closure. Its arguments hide arguments of the function until it ends.
    fn closure(&mut self, at: usize, around: Around<'_>) -> usize {
        let tokens = around.tokens;
        let bar = place::find(tokens, at + 1, "|");
        let hidden = self.hide(tokens.get(at + 1..bar).unwrap_or_default());
        let end = place::end_of_expression(tokens, bar + 1);
        self.read(bar + 1..end, around);
        self.0.extend(hidden);
        end
    }

    /// Notes how the word at `at` uses the argument of that name. Returns whether there is one.
    fn mention(&mut self, at: usize, around: Around<'_>, apart: bool) -> bool {
        let Some(TokenTree::Ident(word)) = around.tokens.get(at) else {
            return false;
        };
        let used = || place::use_of(at, around, apart);
        self.note(&word.to_string(), used, word.span())
    }

    /// Notes a use of the argument of this name. Returns whether there is one.
    fn note(&mut self, name: &str, used: impl FnOnce() -> Use, at: Span) -> bool {
        let Some(mention) = self.0.get_mut(name) else {
            return false;
        };
        let used = used();
        if used > mention.used {
            (mention.used, mention.at) = (used, Some(at));
        }
        true
    }

    /// Takes out the arguments whose names a pattern binds.
    fn hide(&mut self, pattern: &[TokenTree]) -> Hidden {
        let names = patterns::bound(pattern, false);
        let hidden = names.iter().filter_map(|name| self.0.remove_entry(name));
        hidden.collect()
    }
}

/// The arguments that other variables hide.
type Hidden = Vec<(String, Mention)>;

impl Around<'_> {
    /// What surrounds the tokens in the group at `at`.
    fn within(mut self, at: usize) -> Self {
        self.outer = (self.tokens, at);
        if place::is_spawned(self.tokens, at) {
            self.reference = Use::Lent;
        } else if names::makes_stream(self.tokens, at) {
            self.least = self.least.max(Use::Moved);
        } else if names::is_unknown_macro(self.tokens, at) {
            self.reference = self.reference.max(Use::Macro);
        }
        if self.least == Use::Moved && self.reference == Use::Lent {
            self.least = Use::Task;
        }
        self
    }
}
