//! Everything the macro may say, and the accumulator that says all of it at once.
//!
//! Wording: lower case, no full stop, what was found and then what is expected, in at most some 80
//! characters with everything typed in backticks; then a line that begins with `help:` and holds
//! text to paste. One mistake is one error, on the smallest span.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

pub(crate) mod combination;
pub(crate) mod duration;
pub(crate) mod item;
pub(crate) mod key;
mod typed;
pub(crate) mod value;

pub(crate) use self::typed::{quoted, typed, whole};

/// The mistakes found so far.
///
/// They are told in the order of the source, whichever stage finds them: each is filed under the
/// argument of the attribute that was [sought](Errors::seek) last. Dropping it without
/// [`finish`](Errors::finish) loses them, so in tests that is a panic (never for a user).
pub(crate) struct Errors {
    position: usize,
    mistakes: Vec<Mistake>,
    #[cfg(test)]
    finished: bool,
}

struct Mistake {
    position: usize,
    at: At,
    message: String,
}

impl Errors {
    /// The position of the item, which stands behind all arguments of the attribute.
    pub(crate) const ITEM: usize = usize::MAX;

    pub(crate) fn new() -> Self {
        Self {
            position: Self::ITEM,
            mistakes: Vec::new(),
            #[cfg(test)]
            finished: false,
        }
    }

    /// Files what is pushed from now on under this argument, counted from 0.
    pub(crate) fn seek(&mut self, position: usize) {
        self.position = position;
    }

    pub(crate) fn push(&mut self, at: impl Into<At>, message: impl fmt::Display) {
        self.mistakes.push(Mistake {
            position: self.position,
            at: at.into(),
            message: message.to_string(),
        });
    }

    /// How many mistakes were found so far.
    pub(crate) fn count(&self) -> usize {
        self.mistakes.len()
    }

    /// Gives a `compile_error!` for each mistake, in the order of the source; `None` without one.
    pub(crate) fn finish(mut self) -> Option<TokenStream> {
        let mistakes = self.take();
        if mistakes.is_empty() {
            return None;
        }
        Some(
            mistakes
                .into_iter()
                .map(Mistake::into_compile_error)
                .collect(),
        )
    }

    fn take(&mut self) -> Vec<Mistake> {
        #[cfg(test)]
        {
            self.finished = true;
        }
        let mut mistakes = std::mem::take(&mut self.mistakes);
        // Stable: mistakes within one argument stay in the order in which they were found.
        mistakes.sort_by_key(|mistake| mistake.position);
        mistakes
    }

    /// Gives the texts instead of tokens.
    #[cfg(test)]
    pub(crate) fn into_messages(mut self) -> Vec<String> {
        self.take()
            .into_iter()
            .map(|mistake| mistake.message)
            .collect()
    }
}

impl Mistake {
    fn into_compile_error(self) -> TokenStream {
        let At { start, end } = self.at;
        let mut tokens = quote_spanned!(start=> x);
        tokens.extend(quote_spanned!(end=> x));
        syn::Error::new_spanned(tokens, self.message).into_compile_error()
    }
}

#[cfg(test)]
impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.finished || std::thread::panicking(),
            "errors dropped without `finish`"
        );
    }
}

/// What an error points at: from one token to another.
///
/// Two spans, since joining them into one is not stable; rustc draws the line between them.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) start: Span,
    pub(crate) end: Span,
}

impl At {
    /// All of these tokens; the whole attribute where there are none.
    pub(crate) fn of(tokens: &impl ToTokens) -> Self {
        let mut tokens = tokens.to_token_stream().into_iter();
        let start = tokens
            .next()
            .map_or_else(Span::call_site, |token| token.span());
        let end = tokens.last().map_or(start, |token| token.span());
        Self { start, end }
    }
}

impl From<Span> for At {
    fn from(span: Span) -> Self {
        Self {
            start: span,
            end: span,
        }
    }
}

/// A first line and, below it, what to do about it.
pub(crate) struct Message(String);

impl Message {
    pub(crate) fn new(first: impl Into<String>) -> Self {
        Self(first.into())
    }

    /// Adds a line that says what to do.
    pub(crate) fn help(mut self, help: impl fmt::Display) -> Self {
        self.0.push_str("\nhelp: ");
        self.0.push_str(&help.to_string());
        self
    }

    /// Adds a line of background.
    pub(crate) fn note(mut self, note: impl fmt::Display) -> Self {
        self.0.push_str("\nnote: ");
        self.0.push_str(&note.to_string());
        self
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something wrong, and where: what the functions of `lower` return.
pub(crate) struct Fault {
    pub(crate) at: At,
    pub(crate) message: Message,
}

impl Fault {
    pub(crate) fn new(at: impl Into<At>, message: Message) -> Self {
        Self {
            at: at.into(),
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_wrong_gives_nothing() {
        assert!(Errors::new().finish().is_none());
    }

    #[test]
    fn errors_come_in_the_order_of_the_source() {
        let mut errors = Errors::new();
        errors.push(Span::call_site(), "item");
        errors.seek(2);
        errors.push(Span::call_site(), "third");
        errors.push(Span::call_site(), "third again");
        errors.seek(0);
        errors.push(Span::call_site(), "first");
        assert_eq!(
            errors.into_messages(),
            ["first", "third", "third again", "item"]
        );
    }

    #[test]
    fn each_error_is_a_compile_error_of_its_own() {
        let mut errors = Errors::new();
        errors.push(Span::call_site(), Message::new("one").help("do it"));
        errors.push(Span::call_site(), "two");
        let tokens = errors.finish().map(|tokens| tokens.to_string());
        assert_eq!(
            tokens.as_deref(),
            Some(
                ":: core :: compile_error ! { \"one\\nhelp: do it\" } \
                 :: core :: compile_error ! { \"two\" }"
            )
        );
    }

    #[test]
    #[should_panic(expected = "errors dropped without `finish`")]
    fn forgetting_to_finish_is_noticed() {
        drop(Errors::new());
    }
}
