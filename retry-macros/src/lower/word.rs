//! Words of closed lists: `backoff`, `jitter`, `nested`, and `true` or `false`.

use proc_macro2::{Ident, Span};
use syn::{Expr, Lit};

use super::expression::{is_constant_name, lone_name, value};
use crate::duration::parse;
use crate::errors::{Fault, value as wording, whole};
use crate::given::{Form, Given};
use crate::model::Written;
use crate::operand::peel;
use crate::text;
use crate::tokens::is_among;

/// The words that a key accepts.
pub(super) struct WordList {
    /// What a message calls a word of this list.
    noun: &'static str,
    /// Each word, and what other crates write for it. The runtime has a variant for each word.
    known: &'static [(&'static str, &'static str)],
    /// Whether a value of the runtime's type may be given as an expression.
    expressions: bool,
}

pub(super) static BACKOFF: WordList = WordList {
    noun: "backoff",
    known: &[
        ("exponential", "exp expo exponential_backoff"),
        (
            "constant",
            "fixed fixed_interval const constant_backoff none",
        ),
        ("linear", "incremental"),
        ("fibonacci", "fibo"),
    ],
    expressions: true,
};

pub(super) static JITTER: WordList = WordList {
    noun: "jitter",
    known: &[
        ("none", "false off no"),
        ("full", "true on yes random"),
        ("equal", "half"),
        ("decorrelated", ""),
    ],
    expressions: true,
};

pub(super) static NESTED: WordList = WordList {
    noun: "nesting",
    known: &[
        ("add", "sum"),
        ("multiply", "mul product"),
        ("outermost", "outer none"),
    ],
    expressions: false,
};

pub(super) fn word(given: &Given, list: &WordList) -> Result<Written<Ident>, Fault> {
    if let Some(text) = given.text() {
        if let Some(variant) = list.variant(&text, given.at.start) {
            return Ok(Written::Fixed(variant));
        }
    }
    let quoted = matches!(given.form, Form::Text(_));
    if let Some(write) = list.with_arguments(given) {
        return Err(given.fault(wording::word_with_arguments(
            given.key,
            &given.typed(),
            &write,
        )));
    }
    let expr = given.expr().map_err(|_| list.unknown(given))?;
    let is_expression = match (lone_name(&expr), peel(&expr)) {
        (Some(name), _) => {
            if let Some(variant) = list.variant(&name.to_string(), name.span()) {
                return Ok(Written::Fixed(variant));
            }
            // A name that is not like a word of the list is an argument or a constant.
            is_constant_name(name) || !quoted && list.nearest(&name.to_string()).is_none()
        }
        (None, Expr::Lit(literal)) if !quoted && !matches!(literal.lit, Lit::Bool(_)) => {
            return Err(given.wrong());
        }
        (None, Expr::Lit(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_)) => false,
        _ if list.expressions => return value(given, &expr).map(Written::Expr),
        _ => false,
    };
    if list.expressions && is_expression {
        return Ok(Written::Expr(expr));
    }
    Err(list.unknown(given))
}

impl WordList {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.known.iter().map(|&(word, _)| word)
    }

    /// The variant for a word: `Full` for `full`.
    fn variant(&self, text: &str, at: Span) -> Option<Ident> {
        let word = self.words().find(|word| *word == text)?;
        let (first, rest) = word.split_at_checked(1)?;
        Some(Ident::new(&format!("{}{rest}", first.to_uppercase()), at))
    }

    /// The word of the list that `text` most likely means.
    fn nearest(&self, text: &str) -> Option<&'static str> {
        let text = text::snake_case(text);
        let mut known = self.known.iter();
        let meant = known.find(|(_, others)| text::among(others, &text));
        match meant {
            Some(&(word, _)) => Some(word),
            None => text::nearest(&text, self.words()),
        }
    }

    /// The settings that a backoff with arguments means, such as `"exponential(100ms, 2)"`, or a duration in its place. In plain
    /// Rust, a call is of the user's own function, unless there is a duration in it.
    fn with_arguments(&self, given: &Given) -> Option<String> {
        if self.noun != BACKOFF.noun {
            return None;
        }
        let (text, quoted) = match &given.form {
            Form::Text(text) => (text.value(), true),
            Form::Rust(tokens) | Form::List(tokens) => (whole(tokens), false),
        };
        let is_duration = |text: &str| parse(text.trim_matches(['"', ' '])).is_ok();
        let (name, arguments) = text.split_once('(').unwrap_or(("", &text));
        let arguments = arguments
            .trim_end()
            .trim_end_matches(')')
            .split(',')
            .map(str::trim);
        let (durations, rest): (Vec<_>, Vec<_>) = arguments.partition(|text| is_duration(text));
        if durations.is_empty() && (name.is_empty() || !quoted) {
            return None;
        }
        let word = match name.trim() {
            "" => None,
            name => Some(self.nearest(name)?),
        };
        let word = word.map(|word| format!("backoff = \"{word}\""));
        let lengths = ["base", "max_delay"].iter().zip(durations);
        let lengths = lengths.map(|(key, text)| format!("{key} = \"{}\"", text.trim_matches('"')));
        let factor = rest.iter().find(|text| text.parse::<f64>().is_ok());
        let factor = factor.map(|factor| format!("factor = {factor}"));
        let settings: Vec<_> = word.into_iter().chain(lengths).chain(factor).collect();
        Some(settings.join(", "))
    }

    fn unknown(&self, given: &Given) -> Fault {
        let found = given.typed();
        let plain = found.trim_matches('"').trim();
        // Only the last segment of a path such as `Jitter::Ful` can be a misspelt word.
        let nearest = self.nearest(plain.rsplit("::").next().unwrap_or(plain));
        let words = text::list(self.words().map(|word| format!("\"{word}\"")), ", ");
        given.fault(wording::unknown_word(
            given.key, self.noun, &found, nearest, &words,
        ))
    }
}

/// Checks that a key has no value.
pub(super) fn flag(given: &Given) -> Result<(), Fault> {
    match &given.form {
        Form::Rust(tokens) if tokens.is_empty() => Ok(()),
        _ => Err(given.wrong()),
    }
}

/// `true`, `false`, or an expression of type `bool`.
pub(super) fn boolean(given: &Given) -> Result<Written<bool>, Fault> {
    if let Some(Ok(value)) = given.text().map(|text| text.parse()) {
        return Ok(Written::Fixed(value));
    }
    let expr = given.expr()?;
    match (&given.form, peel(&expr)) {
        (Form::Rust(_), Expr::Lit(literal)) => match &literal.lit {
            Lit::Bool(value) => Ok(Written::Fixed(value.value)),
            _ => Err(given.wrong()),
        },
        (_, word) if lone_name(word).is_some_and(|word| is_among(word, "yes no on off")) => {
            Err(given.wrong())
        }
        _ => value(given, &expr).map(Written::Expr),
    }
}
