//! Numbers: `attempts` and `factor`. Words of closed lists: `backoff`, `jitter`, `nested`, and `true` or `false`. The string `name`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Expr, Lit, LitInt, LitStr};

use super::expression::{is_constant_name, value};
use crate::duration;
use crate::errors::{Mistake, value as wording};
use crate::given::{Form, Given};
use crate::keys::Key;
use crate::model::Written;
use crate::operand::{literal, lone_name, peel};
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
        ("constant", "fixed fixed_interval const none"),
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
        // Stands for each percentage.
        ("20%", ""),
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

pub(super) fn word(given: &Given, list: &WordList) -> Result<Written<TokenStream>, Mistake> {
    let text = given.text().unwrap_or_else(|| given.typed());
    if let Some(variant) = list.variant(&text, given.at.start) {
        return Ok(Written::Fixed(variant));
    }
    let expr = given.expr().map_err(|_| list.unknown(given))?;
    let quoted = matches!(given.form, Form::Text(_));
    let is_expression = match (lone_name(&expr), peel(&expr)) {
        // A name that is not like a word of the list is an argument or a constant.
        (Some(name), _) => is_constant_name(name) || !quoted && !list.resembles(name),
        // `"exponential(100ms)"`.
        (None, Expr::Call(call)) if quoted => {
            !lone_name(&call.func).is_some_and(|name| list.resembles(name))
        }
        (None, Expr::Lit(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_)) => false,
        _ => true,
    };
    if list.expressions && is_expression {
        return value(given, &expr).map(Written::Expr);
    }
    Err(list.unknown(given))
}

impl WordList {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.known.iter().map(|&(word, _)| word)
    }

    /// The variant for a word: `Full` for `full`, and `Around(25)` for `25%`.
    fn variant(&self, text: &str, at: Span) -> Option<TokenStream> {
        if let Some(percent) = text.strip_suffix('%') {
            self.words().find(|word| word.ends_with('%'))?;
            let percent = percent.trim_end().parse().ok();
            let percent = Literal::u8_unsuffixed(percent.filter(|percent| *percent <= 100)?);
            let around = Ident::new("Around", at);
            return Some(quote!(#around(#percent)));
        }
        let word = self.words().find(|word| *word == text)?;
        let (first, rest) = word.split_at_checked(1)?;
        let variant = Ident::new(&format!("{}{rest}", first.to_uppercase()), at);
        Some(variant.into_token_stream())
    }

    /// The word of the list that `text` most likely means.
    fn nearest(&self, text: &str) -> Option<&'static str> {
        let text = text::snake_case(text);
        let mut known = self.known.iter();
        let meant = known.find(|(_, others)| text::among(others, &text));
        match meant {
            Some(&(word, _)) => Some(word),
            None => text::nearest(&text, &mut self.words()),
        }
    }

    fn resembles(&self, name: &Ident) -> bool {
        self.nearest(&name.to_string()).is_some()
    }

    fn unknown(&self, given: &Given) -> Mistake {
        let found = given.typed();
        let plain = found.trim_matches('"').trim();
        // Only the last segment of a path such as `Jitter::Ful` can be a misspelt word.
        let nearest = self.nearest(plain.rsplit("::").next().unwrap_or(plain));
        let nearest = nearest.map(|word| format!("`{} = \"{word}\"`", given.key));
        let nearest = nearest.or_else(|| of_number(given.key, plain));
        let words = text::list(self.words().map(|word| format!("\"{word}\"")), ", ");
        given.mistake(wording::unknown_word(
            given.key, self.noun, &found, nearest, &words,
        ))
    }
}

/// What a number or a duration most likely means: `jitter = 0.5`, `backoff = 2`, `backoff = "1s"`.
fn of_number(key: &Key, text: &str) -> Option<String> {
    let is_duration = duration::parse(text).is_ok();
    Some(match (key.name, text.parse::<f64>()) {
        ("jitter", Ok(share)) if (0.0..=1.0).contains(&share) => {
            format!("`jitter = \"{:.0}%\"`", 100.0 * share)
        }
        ("jitter", Ok(percent)) if (1.0..=100.0).contains(&percent) => {
            format!("`jitter = \"{percent:.0}%\"`")
        }
        ("jitter", Err(_)) if is_duration => "`jitter = \"20%\"`, a share of each delay".to_owned(),
        ("backoff", Ok(factor)) if (1.0..=10.0).contains(&factor) => format!("`factor = {text}`"),
        ("backoff", Err(_)) if is_duration => format!("`base = \"{text}\"`"),
        _ => return None,
    })
}

/// Reads a text that is not empty.
/// A text is the name itself, whatever it looks like.
pub(super) fn name(given: &Given) -> Result<Written<LitStr>, Mistake> {
    match &given.form {
        Form::Text(text) if !text.value().trim().is_empty() => Ok(Written::Fixed(text.clone())),
        Form::Rust(_) => value(given, &given.expr()?).map(Written::Expr),
        _ => Err(given.wrong()),
    }
}

/// `true`, `false`, or an expression of type `bool`.
pub(super) fn boolean(given: &Given) -> Result<Written<bool>, Mistake> {
    let expr = given.expr()?;
    match (literal(&expr), lone_name(&expr)) {
        (Some(Lit::Bool(value)), _) => Ok(Written::Fixed(value.value)),
        (_, Some(word)) if is_among(word, "yes no on off") => Err(given.wrong()),
        _ => value(given, &expr).map(Written::Expr),
    }
}

/// What people write for "no limit".
const UNLIMITED: &str = "unlimited infinite infinity inf forever endless unbounded max always";

/// What people write for "one attempt".
const ONCE: &str = "none never no off once";

pub(super) fn attempts(given: &Given) -> Result<Written<Option<u32>>, Mistake> {
    let expr = given.expr()?;
    let name = lone_name(&expr).filter(|name| !is_constant_name(name));
    match (literal(&expr), name) {
        (Some(Lit::Int(int)), _) => count(given, int),
        (_, Some(name)) if name == "unlimited" => Ok(Written::Fixed(None)),
        (_, Some(name)) if text::among(UNLIMITED, &name.to_string().to_lowercase()) => {
            Err(given.wrong_but("\"unlimited\""))
        }
        (_, Some(name)) if is_among(name, ONCE) => Err(given.wrong_but("1")),
        _ => value(given, &expr).map(Written::Expr),
    }
}

fn count(given: &Given, int: &LitInt) -> Result<Written<Option<u32>>, Mistake> {
    if !matches!(int.suffix(), "" | "u32") {
        return Err(given.wrong_but(int.base10_digits()));
    }
    match int.base10_parse::<u32>() {
        Ok(0) => Err(given.mistake(wording::attempts_zero())),
        // The largest number stands for "no limit" in a policy.
        Ok(u32::MAX) | Err(_) => Err(given.wrong_but("\"unlimited\"")),
        Ok(count) => Ok(Written::Fixed(Some(count))),
    }
}

pub(super) fn factor(given: &Given) -> Result<Written<f64>, Mistake> {
    let expr = given.expr()?;
    let factor: Option<f64> = match literal(&expr) {
        Some(Lit::Int(int)) if matches!(int.suffix(), "" | "f64") => int.base10_parse().ok(),
        Some(Lit::Float(float)) if matches!(float.suffix(), "" | "f64") => {
            float.base10_parse().ok()
        }
        _ => return value(given, &expr).map(Written::Expr),
    };
    let factor = factor.filter(|factor| (1.0..=1000.0).contains(factor));
    factor.map(Written::Fixed).ok_or_else(|| given.wrong())
}
