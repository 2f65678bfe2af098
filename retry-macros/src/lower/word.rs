//! Words of closed lists: `backoff`, `jitter`, `nested`, and `true` or `false`.

use proc_macro2::Ident;
use syn::{Expr, Lit};

use super::expression::{is_constant_name, lone_ident, peel, value};
use super::given::{Form, Given};
use crate::errors::{Fault, value as wording};
use crate::keys;
use crate::model::Word;

/// One closed list.
pub(super) struct Words {
    /// What one of them is called in a message.
    noun: &'static str,
    /// Each word, and the variant of the runtime that it stands for.
    known: &'static [(&'static str, &'static str)],
    /// What others write, and our word for it.
    synonyms: &'static [(&'static str, &'static str)],
    /// Whether a value of the runtime's type may be given as an expression.
    expressions: bool,
}

pub(super) static BACKOFF: Words = Words {
    noun: "backoff",
    known: &[
        ("exponential", "Exponential"),
        ("constant", "Constant"),
        ("linear", "Linear"),
        ("fibonacci", "Fibonacci"),
    ],
    synonyms: &[
        ("exp", "exponential"),
        ("expo", "exponential"),
        ("exponential_backoff", "exponential"),
        ("fixed", "constant"),
        ("fixed_interval", "constant"),
        ("const", "constant"),
        ("constant_backoff", "constant"),
        ("none", "constant"),
        ("incremental", "linear"),
        ("fibo", "fibonacci"),
    ],
    expressions: true,
};

pub(super) static JITTER: Words = Words {
    noun: "jitter",
    known: &[
        ("none", "None"),
        ("full", "Full"),
        ("equal", "Equal"),
        ("decorrelated", "Decorrelated"),
    ],
    synonyms: &[
        ("false", "none"),
        ("off", "none"),
        ("no", "none"),
        ("true", "full"),
        ("on", "full"),
        ("yes", "full"),
        ("random", "full"),
        ("half", "equal"),
    ],
    expressions: true,
};

pub(super) static NESTED: Words = Words {
    noun: "nesting",
    known: &[
        ("add", "Add"),
        ("multiply", "Multiply"),
        ("outermost", "Outermost"),
    ],
    synonyms: &[
        ("sum", "add"),
        ("mul", "multiply"),
        ("product", "multiply"),
        ("outer", "outermost"),
        ("none", "outermost"),
    ],
    expressions: false,
};

pub(super) fn word(given: &Given, list: &Words) -> Result<Word, Fault> {
    if let Some(text) = given.text() {
        if let Some(variant) = list.variant(&text) {
            return Ok(Word::Variant(Ident::new(variant, given.at.start)));
        }
    }
    let quoted = matches!(given.form, Form::Text(_));
    let Ok(expr) = given.expr() else {
        return Err(list.unknown(given));
    };
    match peel(&expr) {
        Expr::Lit(literal) if matches!(literal.lit, Lit::Bool(_)) => Err(list.unknown(given)),
        Expr::Path(path) => match lone_ident(path) {
            Some(ident) => match list.variant(&ident.to_string()) {
                Some(variant) => Ok(Word::Variant(Ident::new(variant, ident.span()))),
                // An argument, unless it looks like one of the words.
                None if list.expressions
                    && (is_constant_name(ident)
                        || (!quoted && list.nearest(&ident.to_string()).is_none())) =>
                {
                    Ok(Word::Expr(expr))
                }
                None => Err(list.unknown(given)),
            },
            None if list.expressions => Ok(Word::Expr(expr)),
            None => Err(list.unknown(given)),
        },
        Expr::Lit(_) if !quoted => Err(given.wrong()),
        Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_) => Err(list.unknown(given)),
        _ if list.expressions && !quoted => value(given, &expr).map(Word::Expr),
        _ => Err(list.unknown(given)),
    }
}

impl Words {
    fn variant(&self, text: &str) -> Option<&'static str> {
        self.known
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, variant)| *variant)
    }

    /// The word that is meant by another one.
    fn nearest(&self, text: &str) -> Option<&'static str> {
        let text = keys::snake_case(text);
        match self.synonyms.iter().find(|(foreign, _)| *foreign == text) {
            Some((_, word)) => Some(word),
            None => keys::nearest(&text, self.known.iter().map(|(word, _)| *word)),
        }
    }

    fn unknown(&self, given: &Given) -> Fault {
        let words: Vec<_> = self.known.iter().map(|(word, _)| *word).collect();
        let found = given.typed();
        let plain = found.trim_matches('"').trim();
        // `Jitter::Ful` is asked about by its last segment.
        let nearest = self.nearest(plain.rsplit("::").next().unwrap_or(plain));
        given.fault(wording::unknown_word(
            given.key, self.noun, &found, nearest, &words,
        ))
    }
}

pub(super) fn boolean(given: &Given) -> Result<bool, Fault> {
    match given.text().as_deref() {
        Some("true") => return Ok(true),
        Some("false") => return Ok(false),
        Some(_) => return Err(given.wrong()),
        None => {}
    }
    match peel(&given.expr()?) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Bool(value) => Ok(value.value),
            _ => Err(given.wrong()),
        },
        _ => Err(given.wrong()),
    }
}
