//! Rules between keys. They use only what is certain: literals, and defaults that no `policy` can change.

use std::time::Duration;

use proc_macro2::Ident;
use syn::Type;

use super::types::same;
use crate::errors::{At, Errors, Message, combination as wording, typed};
use crate::given::Given;
use crate::keys::PolicyKey::{self, Backoff, Factor};
use crate::model::{Model, Spanned, UnlessRule, Written};
use crate::rules::too_long;
use crate::text;

/// The keys that have an effect even if nothing is retried. `budget` is among them: a success adds tokens.
const ABOUT_ATTEMPTS: &str = "attempts timeout deadline policy budget idempotent nested cancel cancel_waits on_end blocking \
                              sensitive until name crate";

/// The keys that say how long the first attempt waits in a pause, which only a budget that the attribute names can have.
const ABOUT_PAUSES: &str = "base min_delay max_delay delays jitter max_retry_after";

/// Where a key and its value are.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    key: &'static str,
    name: At,
    value: At,
}

impl Place {
    pub(crate) fn of(given: &Given) -> Self {
        Self {
            key: given.key.name,
            name: given.name,
            value: At::from(given.at.start).within(given.at.position),
        }
    }
}

/// What is certain of a model, whatever its policy and its expressions turn out to be.
struct Facts<'a> {
    model: &'a Model,
    /// The keys that were given, in the order of the source.
    places: &'a [Place],
}

impl Facts<'_> {
    /// The duration of a key, or its default, which a `policy` may change.
    fn length(&self, key: PolicyKey) -> Option<Duration> {
        match self.model.length(key) {
            Some(length) => length.value.fixed().copied(),
            None => key.key().default.filter(|_| self.model.policy.is_none()),
        }
    }

    fn place(&self, key: &str) -> Option<Place> {
        self.places.iter().find(|place| place.key == key).copied()
    }

    /// The last of these keys in the source. Without that key there is no mistake, so the error points at it.
    fn last(&self, keys: &[&str]) -> Option<Place> {
        let places = keys.iter().filter_map(|&key| self.place(key));
        places.max_by_key(|place| place.name.position)
    }
}

pub(super) fn check(model: &Model, places: &[Place], errors: &mut Errors) {
    let facts = Facts { model, places };
    // If nothing is retried, `never_retries` has reported the keys of delays already.
    let retries = !never_retries(&facts, errors);
    if retries {
        idle(&facts, errors);
    }
    let ordered = lengths_too_long(&facts, retries, errors);
    cut_while_blocking(&facts, errors);
    if facts.place("cancel").is_some() && facts.place("cancel_waits").is_some() {
        let keys = ["cancel", "cancel_waits"];
        report(&facts, errors, &keys, wording::cancelled_twice());
    }
    hedges(&facts, errors);
    judged_twice(&facts, errors);
    if retries {
        if facts.place("delays").is_some() {
            // It draws each delay from the delay before, not from a list.
            if is_decorrelated(model) {
                let keys = ["delays", "jitter"];
                report(&facts, errors, &keys, wording::decorrelated_delays());
            }
        } else if ordered && !model.never_retries() {
            no_second_attempt(&facts, errors);
        }
        contradictions(&facts, errors);
    }
}

/// Reports `attempts = 1` beside keys about retries: one error that names all of these keys.
fn never_retries(facts: &Facts<'_>, errors: &mut Errors) -> bool {
    if !facts.model.never_retries() {
        return false;
    }
    let pauses = (facts.model.budget.as_ref()).is_some_and(|budget| budget.value.expr().is_some());
    let mut keys: Vec<_> = facts.places.iter().map(|place| place.key).collect();
    keys.retain(|key| {
        let counts = pauses && text::among(ABOUT_PAUSES, key);
        !counts && !text::among(ABOUT_ATTEMPTS, key)
    });
    if keys.is_empty() {
        return false;
    }
    let message = wording::never_retries(&keys);
    keys.push("attempts");
    report(facts, errors, &keys, message);
    true
}

/// Reports keys that have no effect because of another key, each once.
fn idle(facts: &Facts<'_>, errors: &mut Errors) {
    for key in PolicyKey::ALL {
        if facts.place(key.name()).is_none() {
            continue;
        }
        if let Some((because, with, help)) = made_idle(facts, *key) {
            let message = wording::no_effect(key.name(), &with, help);
            report(facts, errors, &[key.name(), because], message);
        }
    }
}

/// The key by which another has no effect, that key as you would write it, and why to remove the other.
fn made_idle(facts: &Facts<'_>, key: PolicyKey) -> Option<(&'static str, String, &'static str)> {
    const FACTOR: &str = "it belongs to `backoff = \"exponential\"`";
    if facts.place("delays").is_some() && key.delays_replace() {
        let help = "`delays` says how long each delay is";
        return Some(("delays", "delays".to_owned(), help));
    }
    let backoff = word(facts.model.backoff.as_ref()).filter(|word| word != "exponential");
    let decorrelated = is_decorrelated(facts.model);
    let jitter = || "jitter = \"decorrelated\"".to_owned();
    match (key, backoff) {
        (Factor, Some(word)) => Some(("backoff", format!("backoff = \"{word}\""), FACTOR)),
        (Factor, None) if decorrelated => Some(("jitter", jitter(), FACTOR)),
        (Backoff, _) if decorrelated => {
            let help = "each delay is drawn from `base` to 3 times the last";
            Some(("jitter", jitter(), help))
        }
        _ => None,
    }
}

/// Reports durations that are longer than those they must not exceed. Returns whether there are none. If nothing is retried, the
/// delays do not matter.
fn lengths_too_long(facts: &Facts<'_>, retries: bool, errors: &mut Errors) -> bool {
    let delays = facts.place("delays").is_some();
    let mut ordered = true;
    for found in too_long(delays, |key| facts.length(key)) {
        let keys = [found.short.0, found.long.0].map(PolicyKey::name);
        if retries || keys.iter().all(|key| text::among(ABOUT_ATTEMPTS, key)) {
            ordered = false;
            let given = keys.map(|key| facts.place(key).is_some());
            report_value(facts, errors, &keys, wording::too_long(&found, given));
        }
    }
    ordered
}

/// Reports a deadline that is over before the shortest possible first wait.
fn no_second_attempt(facts: &Facts<'_>, errors: &mut Errors) {
    let [deadline, base] = [PolicyKey::Deadline, PolicyKey::Base].map(|key| facts.length(key));
    let jitter = word(facts.model.jitter.as_ref());
    let (Some(deadline), Some(base), Some(jitter)) = (deadline, base, jitter) else {
        return;
    };
    // The ceiling of the first wait is `base` with every backoff. Full jitter may draw almost zero.
    let shortest = match jitter.as_str() {
        "none" | "decorrelated" => base,
        "equal" => base / 2,
        _ => return,
    };
    if shortest >= deadline {
        let message = wording::no_second_attempt(deadline, shortest, &jitter);
        report_value(facts, errors, &["deadline", "base", "jitter"], message);
    }
}

/// Reports keys that would have to stop a body that blocks its thread. Nothing can.
fn cut_while_blocking(facts: &Facts<'_>, errors: &mut Errors) {
    if facts.model.blocking.is_none() {
        return;
    }
    for (key, instead) in [
        ("timeout", "set a timeout in the client that the body calls"),
        ("cancel", "let the body look at a flag"),
        ("cancel_waits", "let the body look at a flag"),
    ] {
        let message = wording::cut_while_blocking(key, instead);
        report(facts, errors, &[key], message);
    }
}

/// Reports what keeps a second attempt from beginning beside the first.
fn hedges(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let mut tell = |with: &[&str], message| {
        report(facts, errors, &[&["hedge"], with].concat(), message);
    };
    if !model.hedges() {
        return;
    }
    if model.blocking.is_some() {
        tell(&[], wording::hedge_while_blocking());
    }
    if is(model.idempotent.as_ref(), &false) {
        tell(&["idempotent"], wording::hedge_not_idempotent());
    }
    if is(model.budget.as_ref(), &()) {
        let because = "budget = \"none\"";
        tell(&["budget"], wording::hedge_without_budget(because));
    } else if model.budget.is_none() && is(model.attempts.as_ref(), &None) {
        let because = "attempts = \"unlimited\"";
        tell(&["attempts"], wording::hedge_without_budget(because));
    }
    if model.hedge_of_policy && model.policy.is_none() {
        tell(&[], wording::hedge_without_policy());
    }
}

/// The word of a setting, if it is a literal.
fn word(setting: Option<&Spanned<Written<Ident>>>) -> Option<String> {
    let variant = setting?.value.fixed()?;
    Some(variant.to_string().to_lowercase())
}

fn is_decorrelated(model: &Model) -> bool {
    word(model.jitter.as_ref()).is_some_and(|word| word == "decorrelated")
}

fn is<T: PartialEq>(setting: Option<&Spanned<Written<T>>>, value: &T) -> bool {
    setting.and_then(|setting| setting.value.fixed()) == Some(value)
}

/// Reports `until` beside `when_ok`, which says what becomes of the same `Ok`, and beside `idempotent = false`, by which no
/// `Ok` is retried.
fn judged_twice(facts: &Facts<'_>, errors: &mut Errors) {
    if facts.place("until").is_none() {
        return;
    }
    if facts.place("when_ok").is_some() {
        let keys = ["until", "when_ok"];
        report(facts, errors, &keys, wording::until_and_when_ok());
    }
    if is(facts.model.idempotent.as_ref(), &false) {
        let keys = ["until", "idempotent"];
        report(facts, errors, &keys, wording::until_without_repeats());
    }
}

fn contradictions(facts: &Facts<'_>, errors: &mut Errors) {
    let rules = &facts.model.rules;
    let twice = match rules.unless.as_ref().map(|unless| &unless.value) {
        Some(UnlessRule::Types(unless)) => {
            let is_refused = |ty: &&Type| unless.iter().any(|other| same(other, ty));
            let refused = rules.on.iter().flat_map(|on| &on.value).find(is_refused);
            refused.map(|ty| ("on", typed(ty)))
        }
        Some(UnlessRule::Function(unless)) => {
            let when = rules
                .when
                .as_ref()
                .filter(|when| same(&when.value, &unless.value));
            when.map(|when| ("when", typed(&when.value)))
        }
        None => None,
    };
    if let Some((key, found)) = twice {
        let message = wording::never_retried(key, &found);
        report(facts, errors, &[key, "unless"], message);
    }
}

/// Reports a mistake at the last of the keys that make it.
fn report(facts: &Facts<'_>, errors: &mut Errors, keys: &[&str], message: Message) {
    if let Some(place) = facts.last(keys) {
        errors.push(place.name, message);
    }
}

/// Reports a mistake at the value of the last of these keys.
fn report_value(facts: &Facts<'_>, errors: &mut Errors, keys: &[&str], message: Message) {
    if let Some(place) = facts.last(keys) {
        errors.push(place.value, message);
    }
}
