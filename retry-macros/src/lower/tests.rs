pub(crate) mod property;

use std::time::Duration;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;

use super::{VOCABULARY, lower};
use crate::errors::{At, Errors, whole};
use crate::keys::KEYS;
use crate::model::{Model, Spanned, UnlessRule, Written};
use crate::syntax::parse;
use syn::Expr;

fn read(args: TokenStream) -> (Model, Vec<String>) {
    let mut errors = Errors::default();
    let model = read_with(args, &mut errors);
    let mistakes = errors.into_mistakes().into_iter();
    (model, mistakes.map(|(_, message)| message).collect())
}

fn read_with(args: TokenStream, errors: &mut Errors) -> Model {
    let args = parse(args, &VOCABULARY, errors);
    lower(args, errors)
}

/// The attributes of `accepted.txt`, each with its settings.
pub(crate) fn accepted() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("tests/accepted.txt").lines();
    lines.filter_map(|line| {
        let line = line.strip_prefix("#[retry(")?;
        let bare = || (line.strip_suffix(")]").unwrap(), "");
        Some(line.split_once(")] ").unwrap_or_else(bare))
    })
}

/// The attributes of `refused.txt`, each with its messages.
fn refused() -> Vec<(&'static str, Vec<String>)> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for line in include_str!("tests/refused.txt").lines() {
        if let Some(attribute) = line.strip_prefix("#[retry(") {
            found.push((attribute.strip_suffix(")]").unwrap(), Vec::new()));
        } else if let Some(more) = line.strip_prefix("    ") {
            let message = found.last_mut().unwrap().1.last_mut().unwrap();
            message.push('\n');
            message.push_str(more);
        } else if let Some(first) = line.strip_prefix("  ") {
            found.last_mut().unwrap().1.push(first.to_owned());
        }
    }
    found
}

#[test]
fn wrong_attributes_are_refused_with_the_right_words() {
    let refused = refused();
    assert!(refused.len() > 290, "{}", refused.len());
    let mut different = String::new();
    for (attribute, expected) in refused {
        let mut errors = Errors::default();
        read_with(attribute.parse().unwrap(), &mut errors);
        let shown = |(at, message): (At, String)| {
            let (without_list, _) = message
                .split_once("\nnote: the keys are")
                .unwrap_or((&message, ""));
            let all = at.start.join(at.end).and_then(|all| all.source_text());
            format!("{without_list}\nat: {}", all.unwrap_or_default())
        };
        let messages: Vec<_> = errors.into_mistakes().into_iter().map(shown).collect();
        if messages != expected {
            different.extend(["\n#[retry(", attribute, ")]\n"]);
            for message in messages {
                different.extend(["  ", &message.replace('\n', "\n    "), "\n"]);
            }
        }
    }
    assert!(different.is_empty(), "in fact:\n{different}");
}

#[test]
fn right_attributes_give_their_settings() {
    for (attribute, expected) in accepted() {
        let (model, messages) = read(attribute.parse().unwrap());
        assert!(messages.is_empty(), "#[retry({attribute})] {messages:?}");
        assert_eq!(show(&model), expected, "#[retry({attribute})]");
    }
}

/// A macro variable such as `$value:expr` puts invisible groups around a value.
#[test]
fn values_that_come_through_a_macro_mean_the_same() {
    let mut seen = 0;
    for (attribute, expected) in accepted() {
        let tokens: TokenStream = attribute.parse().unwrap();
        let mut tokens = tokens.into_iter();
        let (Some(key), Some(TokenTree::Punct(equals))) = (tokens.next(), tokens.next()) else {
            continue;
        };
        let value: TokenStream = tokens.collect();
        if value.to_string().contains(',') {
            continue;
        }
        let value = Group::new(Delimiter::None, value);
        let value = Group::new(Delimiter::None, value.into_token_stream());
        let wrapped = TokenStream::from_iter([key, equals.into(), value.into()]);
        let (model, messages) = read(wrapped);
        assert!(messages.is_empty(), "{attribute}: {messages:?}");
        assert_eq!(show(&model), expected, "{attribute}");
        seen += 1;
    }
    assert!(seen > 60, "{seen}");
}

/// A macro variable such as `$argument:meta` puts an invisible group around an argument.
#[test]
fn an_argument_that_comes_through_a_macro_means_the_same() {
    let argument = Group::new(Delimiter::None, "attempts = 4".parse().unwrap());
    let mut tokens = argument.into_token_stream();
    tokens.extend(", timeout = \"1s\"".parse::<TokenStream>().unwrap());
    let (model, messages) = read(tokens);
    assert!(messages.is_empty(), "{messages:?}");
    assert_eq!(show(&model), "attempts 4; timeout 1s");
}

/// A message has lower case, no full stop, paired backticks and a help line. Its own words have at most 80 characters.
#[test]
fn messages_have_one_style() {
    for message in refused().into_iter().flat_map(|(_, messages)| messages) {
        let first = message.lines().next().unwrap();
        let typed: usize = first.split('`').skip(1).step_by(2).map(str::len).sum();
        assert!(first.len() - typed <= 80, "{first}");
        assert!(
            message.lines().nth(1).unwrap().starts_with("help: "),
            "{message}"
        );
        for line in message.lines().filter(|line| !line.starts_with("at: ")) {
            assert!(!line.ends_with(['.', '!']), "{line}");
            assert!(!line.starts_with(char::is_uppercase), "{line}");
            assert_eq!(line.matches('`').count() % 2, 0, "{line}");
        }
    }
}

/// The attribute accepts the text that a message asks you to paste, unless you have to fill in a part.
#[test]
fn attributes_that_a_message_tells_you_to_write_are_right() {
    let mut seen = 0;
    for (attribute, messages) in refused() {
        let [message] = messages.as_slice() else {
            continue;
        };
        let Some((_, rest)) = message.split_once("\nhelp: write `") else {
            continue;
        };
        let (text, _) = rest.split_once('`').unwrap();
        // These begin a text that is not an attribute. A `"` begins one duration of a list.
        let skip = [",", "const ", "static ", "30s", "key ", "\""];
        if text.contains('…') || skip.iter().any(|skip| text.starts_with(skip)) {
            continue;
        }
        let (_, again) = read(text.parse().unwrap());
        assert!(again.is_empty(), "{attribute}\n{message}\n{again:?}");
        seen += 1;
    }
    assert!(seen > 140, "{seen}");
}

/// The rules between keys do not see a key that failed. The other keys keep their values.
#[test]
fn keys_without_a_mistake_keep_their_values() {
    let attribute =
        "attempts = 0, timeout = \"2s\", jitter = , base = \"1s\", retries = 3, deadline = \"5s\"";
    let (model, messages) = read(attribute.parse().unwrap());
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert_eq!(show(&model), "timeout 2s; deadline 5s; base 1s");
}

/// The settings of a model, in the order of the table of keys.
fn show(model: &Model) -> String {
    let mut all = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        let place = KEYS.iter().position(|key| key.name == name).unwrap();
        let shown = value.map(|value| format!("{name} {value}"));
        all.extend(shown.map(|shown| (place, shown.trim_end().to_owned())));
    };
    for (id, value) in &model.lengths {
        add(id.key().name, with(Some(value), length));
    }
    let rules = &model.rules;
    let expr = |expr: &Expr| tokens(expr);
    add("attempts", with(model.attempts.as_ref(), attempts));
    add("backoff", with(model.backoff.as_ref(), word));
    add(
        "factor",
        with(model.factor.as_ref(), |value| {
            setting(value, f64::to_string)
        }),
    );
    add("jitter", with(model.jitter.as_ref(), word));
    add("delays", with(model.delays.as_ref(), delays));
    add(
        "delays",
        with(model.owned_delays.as_ref(), |next| {
            format!("next of {}", tokens(next))
        }),
    );
    add("retry_after", with(model.retry_after.as_ref(), expr));
    add("on", with(rules.on.as_ref(), |types| list(types)));
    add("when", with(rules.when.as_ref(), expr));
    add("verdict", with(rules.verdict.as_ref(), expr));
    add(
        "unless",
        with(rules.unless.as_ref(), |unless| match unless {
            UnlessRule::Types(types) => list(types),
            UnlessRule::Function(function) => expr(&function.value),
        }),
    );
    add("when_ok", with(model.when_ok.as_ref(), expr));
    add("until", with(model.until.as_ref(), expr));
    add("policy", model.policy.as_ref().map(tokens));
    add("budget", with(model.budget.as_ref(), budget));
    add(
        "idempotent",
        with(model.idempotent.as_ref(), |value| {
            setting(value, bool::to_string)
        }),
    );
    add("nested", with(model.nested.as_ref(), word));
    add("cancel", with(model.cancel.as_ref(), expr));
    add("cancel_waits", with(model.cancel_waits.as_ref(), expr));
    add("on_retry", with(model.on_retry.as_ref(), expr));
    add(
        "before_retry",
        with(model.before_retry.as_ref(), before_retry),
    );
    add("on_end", with(model.on_end.as_ref(), expr));
    add("blocking", model.blocking.as_ref().map(|_| String::new()));
    add("sensitive", model.sensitive.then(String::new));
    add("silent", model.silent.then(String::new));
    add(
        "name",
        with(model.name.as_ref(), |name| setting(name, tokens)),
    );
    add("crate", model.root.as_ref().map(tokens));
    all.sort();
    let all: Vec<_> = all.into_iter().map(|(_, shown)| shown).collect();
    all.join("; ")
}

fn with<T>(setting: Option<&Spanned<T>>, show: impl Fn(&T) -> String) -> Option<String> {
    setting.map(|setting| show(&setting.value))
}

fn tokens(part: &impl ToTokens) -> String {
    whole(&part.to_token_stream())
}

fn list(parts: &[impl ToTokens]) -> String {
    let parts: Vec<_> = parts.iter().map(tokens).collect();
    format!("[{}]", parts.join(", "))
}

fn setting<T>(value: &Written<T>, show: impl Fn(&T) -> String) -> String {
    match value {
        Written::Fixed(value) => show(value),
        Written::Expr(expr) => format!("= {}", tokens(expr)),
    }
}

fn attempts(value: &Written<Option<u32>>) -> String {
    setting(value, |attempts| match attempts {
        Some(count) => count.to_string(),
        None => "unlimited".to_owned(),
    })
}

fn length(value: &Written<Duration>) -> String {
    setting(value, |length| format!("{length:?}"))
}

fn delays(value: &Written<Vec<Written<Duration>>>) -> String {
    setting(value, |list| {
        let list: Vec<_> = list.iter().map(length).collect();
        format!("[{}]", list.join(", "))
    })
}

fn word(value: &Written<TokenStream>) -> String {
    setting(value, tokens)
}

fn budget(value: &Written<()>) -> String {
    setting(value, |()| "none".to_owned())
}

fn before_retry(value: &Expr) -> String {
    match value {
        closure @ Expr::Closure(_) => format!("called {}", tokens(closure)),
        expr => format!("= {}", tokens(expr)),
    }
}
