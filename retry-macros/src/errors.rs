//! All messages of the macro, and the accumulator that reports them together.
//!
//! Wording: lower case, no full stop, what was found and then what is expected, in at most some 80
//! characters with everything typed in backticks; then a line that begins with `help:` and holds
//! text to paste. One mistake is one error, on the smallest span.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

/// Writes functions that make a message: the first line, the help, and a note.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $ty:ty),*) {
        $first:literal $(, $first_value:expr)*;
        $(help $help:literal $(, $help_value:expr)*;)?
        $(note $note:literal $(, $note_value:expr)*;)?
    })*) => {$(
        $(#[$doc])*
        pub(crate) fn $name($($argument: $ty),*) -> $crate::errors::Message {
            $crate::errors::Message::new(format_args!($first $(, $first_value)*))
                $(.help(format_args!($help $(, $help_value)*)))?
                $(.note(format_args!($note $(, $note_value)*)))?
        }
    )*};
}
pub(crate) use messages;

pub(crate) mod combination;
pub(crate) mod duration;
pub(crate) mod item;
mod typed;
pub(crate) mod value;

pub(crate) use self::typed::{cut, quoted, typed, whole};

/// The mistakes found so far.
///
/// Reports them in the order of the source, whichever stage finds them, because each has its [place](At).
/// A drop without [`finish`](Errors::finish) loses the mistakes, so it panics in tests, though never for a user.
#[derive(Default)]
pub(crate) struct Errors {
    mistakes: Vec<Mistake>,
    /// How many places were counted so far.
    places: usize,
    #[cfg(test)]
    finished: bool,
}

impl Errors {
    pub(crate) fn push(&mut self, at: impl Into<At>, message: Message) {
        let at = at.into();
        self.mistakes.push(Mistake { at, message });
    }

    pub(crate) fn extend(&mut self, mistakes: impl IntoIterator<Item = Mistake>) {
        self.mistakes.extend(mistakes);
    }

    /// Counts on to the next place, which the parts of the input take in the order of the source.
    pub(crate) fn next_position(&mut self) -> usize {
        self.places += 1;
        self.places
    }

    /// How many mistakes were found so far.
    pub(crate) fn count(&self) -> usize {
        self.mistakes.len()
    }

    /// Gives a `compile_error!` for each mistake, in the order of the source. `None` if there is no mistake.
    pub(crate) fn finish(mut self) -> Option<TokenStream> {
        let mistakes = self.take();
        let told = |Mistake { at, message }: Mistake| {
            let At { start, end, .. } = at;
            let mut tokens = quote_spanned!(start=> x);
            tokens.extend(quote_spanned!(end=> x));
            syn::Error::new_spanned(tokens, message.0).into_compile_error()
        };
        let told = mistakes.into_iter().map(told);
        (told.len() > 0).then(|| quote!(#(#told)*))
    }

    fn take(&mut self) -> Vec<Mistake> {
        #[cfg(test)]
        {
            self.finished = true;
        }
        // Mistakes within one argument stay in the order in which stages found them.
        self.mistakes.sort_by_key(|mistake| mistake.at.position);
        std::mem::take(&mut self.mistakes)
    }
}

/// What an error points at: from one token to another, and its place among the other mistakes.
///
/// It has two spans, because stable Rust cannot join spans. rustc underlines everything between them.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) start: Span,
    pub(crate) end: Span,
    /// The place of the argument of the attribute. The item comes after all arguments.
    pub(crate) position: usize,
}

impl At {
    /// The place of all these tokens. Without tokens, the place of the whole attribute.
    pub(crate) fn of(tokens: &dyn ToTokens) -> Self {
        let mut tokens = tokens.to_token_stream().into_iter();
        let first = tokens.next();
        let start = first.map_or_else(Span::call_site, |token| token.span());
        let end = tokens.last().map_or(start, |token| token.span());
        Self {
            end,
            ..Self::from(start)
        }
    }

    /// The same, in this argument of the attribute.
    pub(crate) fn within(self, position: usize) -> Self {
        Self { position, ..self }
    }
}

impl From<Span> for At {
    fn from(span: Span) -> Self {
        Self {
            start: span,
            end: span,
            position: usize::MAX,
        }
    }
}

/// A first line and, below it, the help.
pub(crate) struct Message(String);

impl Message {
    pub(crate) fn new(first: impl fmt::Display) -> Self {
        Self(first.to_string())
    }

    /// Adds a line that says what to do.
    pub(crate) fn help(self, help: impl fmt::Display) -> Self {
        Self(format!("{}\nhelp: {help}", self.0))
    }

    /// Adds a line of background.
    pub(crate) fn note(self, note: impl fmt::Display) -> Self {
        Self(format!("{}\nnote: {note}", self.0))
    }
}

/// A mistake and its place.
pub(crate) struct Mistake {
    pub(crate) at: At,
    pub(crate) message: Message,
}

impl From<Mistake> for Vec<Mistake> {
    fn from(mistake: Mistake) -> Self {
        vec![mistake]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Errors {
        /// Gives the texts instead of tokens.
        pub(crate) fn into_mistakes(mut self) -> Vec<(At, String)> {
            let mistakes = self.take().into_iter();
            mistakes
                .map(|mistake| (mistake.at, mistake.message.0))
                .collect()
        }
    }

    impl Drop for Errors {
        fn drop(&mut self) {
            assert!(
                self.finished || std::thread::panicking(),
                "errors dropped without `finish`"
            );
        }
    }

    #[test]
    fn nothing_wrong_gives_nothing() {
        assert!(Errors::default().finish().is_none());
    }

    #[test]
    fn errors_come_in_the_order_of_the_source() {
        let mut errors = Errors::default();
        let at = |position| At::from(Span::call_site()).within(position);
        errors.push(Span::call_site(), Message::new("item"));
        errors.push(at(2), Message::new("third"));
        errors.push(at(2), Message::new("third again"));
        errors.push(at(0), Message::new("first"));
        let mistakes = errors.into_mistakes().into_iter();
        let messages: Vec<_> = mistakes.map(|(_, message)| message).collect();
        assert_eq!(messages, ["first", "third", "third again", "item"]);
    }

    #[test]
    fn each_error_is_a_compile_error_of_its_own() {
        let mut errors = Errors::default();
        errors.push(Span::call_site(), Message::new("one").help("do it"));
        errors.push(Span::call_site(), Message::new("two"));
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
        drop(Errors::default());
    }
}
