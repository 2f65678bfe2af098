//! Rules between keys. They use only what is certain: literals, and defaults that no `policy` can change.

mod facts;

use self::facts::Facts;
pub(super) use self::facts::Place;
use super::types::same;
use crate::errors::{Errors, Message, combination as wording, typed};
use crate::keys::PolicyKey;
use crate::model::{Model, Spanned, UnlessRule, Written};
use crate::rules::too_long;
use crate::text;
use syn::Type;

/// The keys that have an effect even if nothing is retried. `budget` is among them: a success adds tokens.
const ABOUT_ATTEMPTS: &str = "attempts timeout deadline policy budget idempotent nested cancel cancel_waits on_end blocking \
                              sensitive until name crate";

/// The keys that say how long the first attempt waits in a pause, which only a budget that the attribute names can have.
const ABOUT_PAUSES: &str = "base min_delay max_delay delays jitter max_retry_after";

pub(super) fn check(model: &Model, places: &[Place], errors: &mut Errors) {
    let facts = Facts::of(model, places);
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
            if facts.is_decorrelated() {
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
    use PolicyKey::{Backoff, Factor, MaxDelay};
    const FACTOR: &str = "remove `factor`, it belongs to `backoff = \"exponential\"`";
    let mut told = Vec::new();
    // `with` is `because` as you would write it. In `help`, `{idle}` stands for the key.
    let mut tell = |because: &str, with: &str, keys: &[PolicyKey], help: &str| {
        let mut keys = keys.to_vec();
        // Messages about the same place come in the order of the alphabet.
        keys.sort_by_key(|key| key.name());
        for key in keys {
            if facts.place(key.name()).is_some() && !told.contains(&key) {
                told.push(key);
                let help = help.replace("{idle}", key.name());
                let message = wording::no_effect(key.name(), with, &help);
                report(facts, errors, &[key.name(), because], message);
            }
        }
    };
    if facts.place("delays").is_some() {
        let keys = PolicyKey::ALL.iter().copied();
        let keys: Vec<_> = keys.filter(|key| key.delays_replace()).collect();
        let help = "remove `{idle}`: `delays` says how long each delay is";
        tell("delays", "delays", &keys, help);
    }
    let is_constant = facts.backoff.as_deref() == Some("constant");
    if facts.no_delay() {
        let mut keys = vec![Factor];
        keys.extend((!is_constant).then_some(Backoff));
        keys.extend((!facts.default_max_delay_is_too_short()).then_some(MaxDelay));
        let help = "remove `{idle}`, or write a longer `base`";
        tell("base", "base = \"0s\"", &keys, help);
    }
    if let Some(backoff) = facts.backoff.as_ref().filter(|word| *word != "exponential") {
        tell(
            "backoff",
            &format!("backoff = \"{backoff}\""),
            &[Factor],
            FACTOR,
        );
    }
    if facts.is_decorrelated() {
        let with = "jitter = \"decorrelated\"";
        tell("jitter", with, &[Factor], FACTOR);
        if !facts.no_delay() {
            let help = "remove `backoff`: each delay is drawn from `base` to 3 times the last";
            tell("jitter", with, &[Backoff], help);
        }
    }
    if is_constant && !facts.jitter_grows() && !facts.max_delay_is_needed() {
        let help = "remove `max_delay`: each delay is at most `base`";
        tell("backoff", "backoff = \"constant\"", &[MaxDelay], help);
    }
}

/// Reports durations that are longer than those they must not exceed. Returns whether all that is known of the delays is
/// in order. If nothing is retried, the delays do not matter.
fn lengths_too_long(facts: &Facts<'_>, retries: bool, errors: &mut Errors) -> bool {
    let mut ordered = true;
    let delays = facts.place("delays").is_some();
    for found in too_long(delays, |key| facts.length(key)) {
        let keys = [found.short.0, found.long.0].map(PolicyKey::name);
        let of_attempts = keys.iter().all(|key| text::among(ABOUT_ATTEMPTS, key));
        if of_attempts || retries {
            ordered &= of_attempts;
            let given = keys.map(|key| facts.place(key).is_some());
            report_value(facts, errors, &keys, wording::too_long(&found, given));
        }
    }
    ordered
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

/// Reports a deadline that is over before the shortest possible first wait.
fn no_second_attempt(facts: &Facts<'_>, errors: &mut Errors) {
    let [deadline, base] = [PolicyKey::Deadline, PolicyKey::Base].map(|key| facts.length(key));
    let (Some(deadline), Some(base), Some(jitter)) = (deadline, base, &facts.jitter) else {
        return;
    };
    // The ceiling of the first wait is `base` with every backoff. Full jitter may draw almost zero.
    // Decorrelated jitter draws at least `base`.
    let shortest = match jitter.as_str() {
        "none" | "decorrelated" => base,
        "equal" => base / 2,
        _ => return,
    };
    if shortest >= deadline {
        let message = wording::no_second_attempt(deadline, shortest, jitter);
        report_value(facts, errors, &["deadline", "base", "jitter"], message);
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
