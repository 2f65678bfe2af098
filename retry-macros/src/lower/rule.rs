//! Rules between keys. Only what is certain: literals, and defaults where no `policy` can change
//! them.

use std::time::Duration;

use quote::ToTokens;

use super::types::same;
use crate::errors::{Errors, combination as wording, typed};
use crate::model::{Attempts, Length, Model, Spanned, Word};

/// The defaults of the runtime, which a `policy` may change.
const BASE: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(20);

pub(super) fn check(model: &Model, errors: &mut Errors) {
    if never_retries(model, errors) {
        // What is said about delays would be about the same keys again.
        timeout_above_deadline(model, errors);
        return;
    }
    if !no_delay(model, errors) {
        idle_factor(model, errors);
        idle_max_delay(model, errors);
    }
    timeout_above_deadline(model, errors);
    if !base_above_max_delay(model, errors) {
        no_second_attempt(model, errors);
    }
    contradictions(model, errors);
}

/// `attempts = 1` with keys that are about retries: one error that names them all.
fn never_retries(model: &Model, errors: &mut Errors) -> bool {
    let Some(attempts) = &model.attempts else {
        return false;
    };
    if !matches!(attempts.value, Attempts::Count(1)) {
        return false;
    }
    let rules = &model.rules;
    let idle = [
        place("backoff", model.backoff.as_ref()),
        place("base", model.base.as_ref()),
        place("max_delay", model.max_delay.as_ref()),
        place("factor", model.factor.as_ref()),
        place("jitter", model.jitter.as_ref()),
        place("on", rules.on.as_ref()),
        place("matches", rules.matches.as_ref()),
        place("when", rules.when.as_ref()),
        place("unless", rules.unless.as_ref()),
        place("not_on", rules.not_on.as_ref()),
        place("when_ok", model.when_ok.as_ref()),
        place("budget", model.budget.as_ref()),
        place("clone", model.clone.as_ref()),
        place("on_retry", model.on_retry.as_ref()),
        place("before_retry", model.before_retry.as_ref()),
    ];
    let mut idle: Vec<_> = idle.into_iter().flatten().collect();
    idle.sort_by_key(|place| place.position);
    let names: Vec<_> = idle.iter().map(|place| place.name).collect();
    let mut places = idle;
    places.extend(place("attempts", Some(attempts)));
    if names.is_empty() {
        return false;
    }
    report(&places, errors, wording::never_retries(&names));
    true
}

/// `base = "0s"` with keys that say how delays grow: nothing grows from zero.
fn no_delay(model: &Model, errors: &mut Errors) -> bool {
    if fixed(model.base.as_ref()) != Some(Duration::ZERO) {
        return false;
    }
    let growing = [
        place("backoff", model.backoff.as_ref()),
        place("factor", model.factor.as_ref()),
        place("max_delay", model.max_delay.as_ref()),
    ];
    for idle in growing.into_iter().flatten() {
        let places: Vec<_> = place("base", model.base.as_ref())
            .into_iter()
            .chain([idle])
            .collect();
        let help = format!("remove `{}`, or write a longer `base`", idle.name);
        report(
            &places,
            errors,
            wording::no_effect(idle.name, "base = \"0s\"", &help),
        );
    }
    true
}

/// `factor` where nothing is multiplied, and `backoff` where nothing grows by it.
fn idle_factor(model: &Model, errors: &mut Errors) {
    let decorrelated = variant(model.jitter.as_ref()).is_some_and(|name| name == "Decorrelated");
    let backoff = variant(model.backoff.as_ref());
    let places = [
        place("backoff", model.backoff.as_ref()),
        place("factor", model.factor.as_ref()),
        place("jitter", model.jitter.as_ref()),
    ];
    let [backoff_place, factor_place, jitter_place] = places;
    if let Some(factor) = factor_place {
        let because = match &backoff {
            Some(name) if name != "Exponential" => Some((
                backoff_place,
                format!("backoff = \"{}\"", name.to_lowercase()),
            )),
            _ if decorrelated => Some((jitter_place, "jitter = \"decorrelated\"".to_owned())),
            _ => None,
        };
        if let Some((other, because)) = because {
            let places: Vec<_> = [Some(factor), other].into_iter().flatten().collect();
            let help = "remove `factor`, it belongs to `backoff = \"exponential\"`";
            report(
                &places,
                errors,
                wording::no_effect("factor", &because, help),
            );
        }
    }
    if let (Some(backoff), Some(jitter), true) = (backoff_place, jitter_place, decorrelated) {
        let help = "remove `backoff`: each delay is drawn from `base` to 3 times the last";
        let message = wording::no_effect("backoff", "jitter = \"decorrelated\"", help);
        report(&[backoff, jitter], errors, message);
    }
}

/// `max_delay` where the delay never grows.
fn idle_max_delay(model: &Model, errors: &mut Errors) {
    let constant = variant(model.backoff.as_ref()).is_some_and(|name| name == "Constant");
    // Decorrelated jitter grows by itself; so may a jitter that a policy or a constant names.
    let grows = match (&model.jitter, variant(model.jitter.as_ref())) {
        (Some(_), Some(name)) => name == "Decorrelated",
        (Some(_), None) => true,
        (None, _) => model.policy.is_some(),
    };
    let places = [
        place("backoff", model.backoff.as_ref()),
        place("max_delay", model.max_delay.as_ref()),
    ];
    // Above `base` it is a contradiction, which another rule reports.
    let below = match (base(model), fixed(model.max_delay.as_ref())) {
        (Some(base), Some(max_delay)) => max_delay < base,
        _ => false,
    };
    if let ([Some(backoff), Some(max_delay)], true, false, false) = (places, constant, grows, below)
    {
        let help = "remove `max_delay`: each delay is at most `base`";
        let message = wording::no_effect("max_delay", "backoff = \"constant\"", help);
        report(&[backoff, max_delay], errors, message);
    }
}

fn timeout_above_deadline(model: &Model, errors: &mut Errors) {
    let (timeout, deadline) = (model.timeout.as_ref(), model.deadline.as_ref());
    if let (Some(shorter), Some(longer)) = (fixed(timeout), fixed(deadline)) {
        if shorter > longer {
            let places = [place("timeout", timeout), place("deadline", deadline)];
            let places: Vec<_> = places.into_iter().flatten().collect();
            report(
                &places,
                errors,
                wording::timeout_above_deadline(shorter, longer),
            );
        }
    }
}

fn base_above_max_delay(model: &Model, errors: &mut Errors) -> bool {
    let (Some(base_value), Some(max_value)) = (base(model), max_delay(model)) else {
        return false;
    };
    if base_value <= max_value {
        return false;
    }
    let base_place = place("base", model.base.as_ref());
    let max_place = place("max_delay", model.max_delay.as_ref());
    let message = match (base_place, max_place) {
        (Some(_), Some(_)) => wording::base_above_max_delay(base_value, max_value),
        (Some(_), None) => wording::base_above_default(base_value, max_value),
        _ => wording::max_delay_below_default(max_value, base_value),
    };
    let places: Vec<_> = [base_place, max_place].into_iter().flatten().collect();
    report(&places, errors, message);
    true
}

/// The deadline is over before the shortest first wait is.
fn no_second_attempt(model: &Model, errors: &mut Errors) {
    let (Some(deadline), Some(first)) = (fixed(model.deadline.as_ref()), base(model)) else {
        return;
    };
    // The wait before the second attempt has the ceiling `base` with every backoff. Full jitter
    // may draw next to nothing below it.
    let Some(jitter) = variant(model.jitter.as_ref()) else {
        return;
    };
    let shortest = match jitter.as_str() {
        "None" | "Decorrelated" => first,
        "Equal" => first / 2,
        _ => return,
    };
    if shortest < deadline {
        return;
    }
    let places = [
        place("deadline", model.deadline.as_ref()),
        place("base", model.base.as_ref()),
        place("jitter", model.jitter.as_ref()),
    ];
    let places: Vec<_> = places.into_iter().flatten().collect();
    let message = wording::no_second_attempt(deadline, shortest, &jitter.to_lowercase());
    report(&places, errors, message);
}

fn contradictions(model: &Model, errors: &mut Errors) {
    let rules = &model.rules;
    if let Some(ty) = rules.contradiction() {
        let places = [
            place("on", rules.on.as_ref()),
            place("not_on", rules.not_on.as_ref()),
        ];
        let places: Vec<_> = places.into_iter().flatten().collect();
        report(
            &places,
            errors,
            wording::on_and_not_on(&typed(&ty.to_token_stream())),
        );
    }
    if let (Some(when), Some(unless)) = (&rules.when, &rules.unless) {
        if same(&when.value, &unless.value) {
            let places = [place("when", Some(when)), place("unless", Some(unless))];
            let places: Vec<_> = places.into_iter().flatten().collect();
            let function = typed(&when.value.to_token_stream());
            report(&places, errors, wording::when_and_unless(&function));
        }
    }
}

/// A key that takes part in a rule.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    position: usize,
    key: proc_macro2::Span,
}

fn place<T>(name: &'static str, setting: Option<&Spanned<T>>) -> Option<Place> {
    setting.map(|setting| Place {
        name,
        position: setting.position,
        key: setting.key,
    })
}

/// Points at the key that was written last: until then all was well.
fn report(places: &[Place], errors: &mut Errors, message: impl std::fmt::Display) {
    if let Some(last) = places.iter().max_by_key(|place| place.position) {
        errors.seek(last.position);
        errors.push(last.key, message);
    }
}

fn fixed(setting: Option<&Spanned<Length>>) -> Option<Duration> {
    match setting?.value {
        Length::Fixed(duration) => Some(duration),
        Length::Expr(_) => None,
    }
}

/// The value that `base` has for certain.
fn base(model: &Model) -> Option<Duration> {
    match &model.base {
        None => model.policy.is_none().then_some(BASE),
        setting => fixed(setting.as_ref()),
    }
}

fn max_delay(model: &Model) -> Option<Duration> {
    match &model.max_delay {
        None => model.policy.is_none().then_some(MAX_DELAY),
        setting => fixed(setting.as_ref()),
    }
}

/// The word that was written, by the name of its variant.
fn variant(setting: Option<&Spanned<Word>>) -> Option<String> {
    match &setting?.value {
        Word::Variant(ident) => Some(ident.to_string()),
        Word::Expr(_) => None,
    }
}
