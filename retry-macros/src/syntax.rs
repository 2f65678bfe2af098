//! Splits the text between the parentheses of an attribute into keys, and the tokens of their values.
//!
//! It checks only the punctuation. After a mistake, the parser goes on at the next comma, or at the next token
//! that can only be a key, so that it reads all other arguments.

mod extent;

pub(crate) use self::extent::{asks_function, types, unless_settings};

use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};

use self::extent::{
    FindKey, comma, skip, starts_argument, starts_assignment, token, until, value, word,
};

use crate::errors::{At, Errors, Message, typed, value as wording};
use crate::keys::{Grammar, Key};
use crate::tokens::{bare, deep, lone_group, unraw};

/// One argument as typed.
pub(crate) struct RawArg {
    /// The key without `r#`, known or not.
    pub(crate) name: String,
    /// The key, as errors point at it, with the place of the argument among the others.
    pub(crate) at: At,
    pub(crate) value: RawValue,
}

pub(crate) enum RawValue {
    Alone,
    /// `key = tokens`. Without a token, the value is missing.
    Assigned(TokenStream),
    /// `key(tokens)`; maybe none.
    List {
        tokens: TokenStream,
        at: At,
    },
}

impl RawValue {
    pub(crate) fn tokens(&self) -> Option<&TokenStream> {
        match self {
            Self::Alone => None,
            Self::Assigned(tokens) | Self::List { tokens, .. } => Some(tokens),
        }
    }
}

/// The keys that an attribute takes.
pub(crate) struct Vocabulary {
    pub(crate) find: fn(&str) -> Option<&'static Key>,
    /// The message for tokens that cannot be a key.
    pub(crate) not_a_key: fn(&TokenStream) -> Message,
}

/// Splits the arguments of an attribute.
pub(crate) fn parse(
    args: TokenStream,
    vocabulary: &Vocabulary,
    errors: &mut Errors,
) -> Vec<RawArg> {
    if let Some((literal, length)) = long_literal(&args) {
        let at = At::from(literal.span()).within(errors.next_position());
        errors.push(at, wording::long_literal(length, LONGEST_LITERAL));
        return Vec::new();
    }
    let mut found = Vec::new();
    each(args, &mut |input| {
        let mut reader = Reader {
            input,
            vocabulary,
            position: errors.next_position(),
            errors,
        };
        found.extend(reader.argument());
    });
    found
}

/// The most bytes of a literal. Our choice: `syn` reads a number in time that grows with the square of its length, and
/// drops a deep expression with a deep stack.
const LONGEST_LITERAL: usize = 4096;

/// The first literal that is too long, and its length.
fn long_literal(args: &TokenStream) -> Option<(Literal, usize)> {
    deep(args).find_map(|token| match token {
        TokenTree::Literal(literal) => {
            let length = literal.to_string().len();
            (length > LONGEST_LITERAL).then_some((literal, length))
        }
        _ => None,
    })
}

/// Splits a list at its commas, except at commas inside a value of this grammar.
pub(crate) fn elements(list: TokenStream, grammar: Grammar, find: FindKey) -> Vec<TokenStream> {
    let mut found = Vec::new();
    each(list, &mut |input| {
        found.push(value(input, grammar, find));
        comma(input);
    });
    found
}

/// Repeats `step` until the end. Stops if a step takes no token, so that no input hangs the compiler.
fn each(tokens: TokenStream, step: &mut dyn FnMut(ParseStream<'_>)) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let before = input.cursor();
            step(input);
            if input.cursor() == before {
                break;
            }
        }
        Ok(())
    };
    // The closure always returns `Ok`, and consumes all tokens.
    let _: syn::Result<()> = parser.parse2(tokens);
}

/// Reads one argument.
struct Reader<'a, 'i> {
    input: ParseStream<'i>,
    vocabulary: &'a Vocabulary,
    position: usize,
    errors: &'a mut Errors,
}

impl Reader<'_, '_> {
    fn push(&mut self, at: impl Into<At>, message: Message) {
        self.errors.push(at.into().within(self.position), message);
    }

    /// Reads an argument and the comma after it: at least one token.
    fn argument(&mut self) -> Option<RawArg> {
        let (input, find) = (self.input, self.vocabulary.find);
        let Some(key) = key(input) else {
            self.not_a_key();
            return None;
        };
        let name = unraw(&key);
        let known = find(&name);
        let value = match self.separator(known) {
            Some(value) => value,
            // `timeout = jitter = "full"`: the value of `timeout` is missing. The missing comma is no second mistake.
            None if starts_assignment(input, Some(find)) => RawValue::Assigned(TokenStream::new()),
            None => {
                let grammar = known.map_or(Grammar::Expr, |key| key.grammar);
                RawValue::Assigned(value(input, grammar, find))
            }
        };
        let takes_none = known.is_some_and(|key| key.grammar == Grammar::Flag);
        let unfinished = match &value {
            RawValue::Alone => !takes_none,
            RawValue::Assigned(tokens) => !takes_none && tokens.is_empty(),
            RawValue::List { .. } => false,
        };
        if !(unfinished && starts_assignment(input, Some(find))) {
            self.end(known);
        }
        Some(RawArg {
            name,
            at: At::from(key.span()).within(self.position),
            value,
        })
    }

    fn not_a_key(&mut self) {
        let at = self.input.span();
        let tokens = until(self.input, None, self.vocabulary.find);
        if tokens.is_empty() {
            self.push(at, (self.vocabulary.not_a_key)(&token(self.input)));
        } else {
            self.push(At::of(&tokens), (self.vocabulary.not_a_key)(&tokens));
        }
        comma(self.input);
    }

    /// Reads what stands between key and value. `None` after a `=`, or after wrong punctuation, which it reports: then the
    /// value follows. An unknown key is reported elsewhere, so its punctuation is not checked.
    fn separator(&mut self, known: Option<&Key>) -> Option<RawValue> {
        let input = self.input;
        if input.is_empty() || input.peek(Token![,]) {
            return Some(RawValue::Alone);
        }
        if input.peek(syn::token::Paren) {
            if let Ok(TokenTree::Group(group)) = input.parse() {
                let at = At {
                    end: group.span_close(),
                    ..At::from(group.span_open()).within(self.position)
                };
                let tokens = group.stream();
                return Some(RawValue::List { tokens, at });
            }
        }
        // After `==`, the value begins with a `=`, and is wrong.
        if input.peek(Token![=]) {
            skip(input);
            return None;
        }
        if starts_argument(input, self.vocabulary.find) {
            // The key stands alone, and `end` reports the missing comma.
            return Some(RawValue::Alone);
        }
        match known {
            Some(key) if key.grammar == Grammar::Flag => Some(RawValue::Alone),
            Some(key) => self.wrong_separator(key),
            None => None,
        }
    }

    /// What people write for `=`: `key: value`, `key[value]`.
    fn wrong_separator(&mut self, key: &Key) -> Option<RawValue> {
        let found = token(self.input);
        let group = lone_group(&found);
        if group.is_some() || self.input.peek(Token![:]) {
            skip(self.input);
        }
        let assigned = group.map(|group| bare(group.stream()));
        let value = assigned.clone();
        let value = value.unwrap_or_else(|| until(&self.input.fork(), None, self.vocabulary.find));
        self.push(
            At::of(&found),
            wording::not_equals(key, &typed(&found), &unless_settings(value)),
        );
        assigned.map(RawValue::Assigned)
    }

    /// Reads the comma after an argument, or reports that it is missing.
    fn end(&mut self, known: Option<&Key>) {
        let (input, find) = (self.input, self.vocabulary.find);
        if input.is_empty() || comma(input) {
            return;
        }
        let next = token(input);
        let is_argument = starts_argument(input, find);
        if is_argument || known.is_some() {
            self.push(At::of(&next), wording::missing_comma(&typed(&next)));
        }
        if !is_argument {
            until(input, None, find);
            comma(input);
        }
    }
}

/// Reads a word that does not begin a path or a macro.
fn key(input: ParseStream<'_>) -> Option<Ident> {
    let (_, after) = word(input)?;
    if after.peek(Token![::]) || after.peek(Token![!]) {
        return None;
    }
    input.call(Ident::parse_any).ok()
}
