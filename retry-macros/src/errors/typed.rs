//! Shows tokens to the user as they were typed.

use proc_macro2::{Delimiter, Spacing, TokenTree};
use quote::ToTokens;

/// How many characters of a value a message quotes. The first line of a message should stay near 80.
const LONGEST: usize = 32;

/// The tokens as you would type them, cut if they are long.
///
/// `to_string()` would put spaces between tokens (`io :: Error`) that the compiler made. The source text of the
/// span would be only the first token, on a stable compiler.
pub(crate) fn typed(tokens: &dyn ToTokens) -> String {
    cut(&whole(tokens))
}

/// The tokens as text to paste, not cut.
pub(crate) fn whole(tokens: &dyn ToTokens) -> String {
    let mut writer = Writer::default();
    for token in tokens.to_token_stream() {
        writer.token(&token);
    }
    writer.text
}

/// A text in quotes, cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(&text.escape_debug().to_string()))
}

/// A text on one line, cut if it is long.
pub(crate) fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(LONGEST - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// The kind of token before the next token, which decides about the space between them.
#[derive(Default, Clone, Copy, PartialEq)]
enum Before {
    #[default]
    Nothing,
    /// An identifier, a literal or a closing bracket.
    Word,
    /// Punctuation without a space after it: `::`, `.`, `&`, `!`, a sign.
    Tight,
    /// The first half of a punctuation of two characters.
    Half,
    /// Punctuation with a space after it: `,`, `|`, `=`.
    Loose,
}

#[derive(Default)]
struct Writer {
    text: String,
    before: Before,
    /// Between the two bars of a closure.
    closure: bool,
    /// How many `<` of generic arguments are open.
    angles: usize,
    /// Whether the last word may take generic arguments: it begins in upper case.
    is_type: bool,
}

impl Writer {
    fn token(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                if self.before == Before::Loose || (self.before == Before::Word && open == "{ ") {
                    self.text.push(' ');
                }
                self.text.push_str(open);
                self.text.push_str(&whole(&group.stream()));
                self.text.push_str(close);
                self.before = Before::Word;
            }
            TokenTree::Ident(ident) => self.word(&ident.to_string()),
            TokenTree::Literal(literal) => self.word(&literal.to_string()),
            TokenTree::Punct(punct) => self.punctuation(punct.as_char(), punct.spacing()),
        }
    }

    fn word(&mut self, word: &str) {
        if matches!(self.before, Before::Word | Before::Loose) {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.is_type = word.starts_with(char::is_uppercase);
        // An operand follows such a word, as it follows an operator.
        let operator = ["as", "async", "if", "in", "move", "return"].contains(&word);
        self.before = if operator {
            Before::Loose
        } else {
            Before::Word
        };
    }

    fn punctuation(&mut self, char: char, spacing: Spacing) {
        let closing_bar = self.closure && char == '|';
        let operand = !matches!(self.before, Before::Word | Before::Half);
        let opens = char == '<' && (self.is_type || self.before != Before::Word);
        let closes = char == '>' && self.angles > 0 && self.before != Before::Half;
        let clings = closing_bar || opens || closes || ",;:.?!'@".contains(char);
        let spaced = match self.before {
            Before::Loose => !closing_bar,
            Before::Word => !clings,
            Before::Nothing | Before::Tight | Before::Half => false,
        };
        if spaced {
            self.text.push(' ');
        }
        self.text.push(char);
        if char == '|' {
            self.closure = !closing_bar && operand;
        }
        self.angles = self
            .angles
            .saturating_add(opens.into())
            .saturating_sub(closes.into());
        self.before = match char {
            _ if closes => Before::Word,
            _ if opens => Before::Tight,
            _ if closing_bar => Before::Loose,
            _ if spacing == Spacing::Joint && !self.closure => Before::Half,
            '=' if self.text.ends_with("..=") => Before::Tight,
            ':' if self.before != Before::Half => Before::Loose,
            ':' | '.' | '!' | '?' | '\'' | '@' => Before::Tight,
            // A sign, a reference, or the bar that opens a closure.
            '-' | '*' | '&' | '|' if operand => Before::Tight,
            _ => Before::Loose,
        };
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use super::*;

    #[test]
    fn tokens_read_as_they_were_typed() {
        for text in [
            "io::Error",
            "io::Error | hyper::Error",
            "Duration::from_secs(1)",
            "self.timeout",
            "-1",
            "1.5",
            "MyError::Http(500..=599)",
            "&str",
            "()",
            "Vec<u8>",
            "Map<u8, u16>",
            "a, b",
            "'x'",
            "|e| e.code() == 5",
            "async || x",
            "2 * A",
            "Error<A, B>",
            "Vec<Option<u8>>",
            "a < b",
            "x if *x > 5",
            "&mut x",
            "<T as Trait>::Error",
            "f::<u8>()",
            "async || x.await",
            "a || b",
            "|e: &MyError| e",
            "async move || x",
            "|&e| e",
            "b\"x\"",
        ] {
            let tokens: TokenStream = text.parse().unwrap();
            assert_eq!(typed(&tokens), text);
        }
    }

    #[test]
    fn long_values_are_cut() {
        let tokens: TokenStream = "a_very_long_name::that_goes_on::and_on".parse().unwrap();
        assert_eq!(typed(&tokens), "a_very_long_name::that_goes_on:…");
        assert_eq!(quoted("é\"\n"), r#""é\"\n""#);
    }
}
