//! Rules between keys. They use only what is certain: literals, and defaults that no `policy` can change.

mod facts;

use quote::ToTokens;

use self::facts::Facts;
use super::types::same;
use crate::errors::{At, Errors, Message, combination as wording, typed};
use crate::keys::PolicyKey;
use crate::model::{Attempts, Model, Setting};
use retry_settings::rules::too_long;
use retry_settings::text;

/// Keys that have no effect because of another key.
struct Idle {
    because: &'static str,
    /// The setting of `because` that makes them useless, as you would write it. `None` if it is not set so.
    with: fn(&Facts<'_>) -> Option<String>,
    keys: fn(PolicyKey) -> bool,
    /// Whether one of the keys has an effect after all.
    unless: fn(&Facts<'_>, PolicyKey) -> bool,
    /// What to do; `{idle}` stands for the key.
    help: &'static str,
}

static IDLE: &[Idle] = &[
    Idle {
        because: "delays",
        with: |facts| facts.place("delays").map(|_| "delays".to_owned()),
        keys: PolicyKey::delays_replace,
        unless: |_, _| false,
        help: "remove `{idle}`: `delays` says how long each delay is",
    },
    Idle {
        because: "base",
        with: |facts| facts.no_delay().then(|| "base = \"0s\"".to_owned()),
        keys: |key| {
            matches!(
                key,
                PolicyKey::Backoff | PolicyKey::Factor | PolicyKey::MaxDelay
            )
        },
        unless: |facts, key| match key {
            PolicyKey::Backoff => facts.has_backoff("constant"),
            PolicyKey::MaxDelay => facts.default_max_delay_is_too_short(),
            _ => false,
        },
        help: "remove `{idle}`, or write a longer `base`",
    },
    Idle {
        because: "backoff",
        with: |facts| {
            let backoff = facts.backoff.as_ref()?;
            (backoff != "exponential").then(|| format!("backoff = \"{backoff}\""))
        },
        keys: |key| key == PolicyKey::Factor,
        unless: |_, _| false,
        help: "remove `factor`, it belongs to `backoff = \"exponential\"`",
    },
    Idle {
        because: "jitter",
        with: |facts| facts.decorrelated(),
        keys: |key| key == PolicyKey::Factor,
        unless: |_, _| false,
        help: "remove `factor`, it belongs to `backoff = \"exponential\"`",
    },
    Idle {
        because: "jitter",
        with: |facts| facts.decorrelated(),
        keys: |key| key == PolicyKey::Backoff,
        unless: |facts, _| facts.no_delay(),
        help: "remove `backoff`: each delay is drawn from `base` to 3 times the last",
    },
    Idle {
        because: "backoff",
        with: |facts| {
            let constant = facts.has_backoff("constant");
            constant.then(|| "backoff = \"constant\"".to_owned())
        },
        keys: |key| key == PolicyKey::MaxDelay,
        unless: |facts, _| facts.jitter_grows() || facts.max_delay_is_needed(),
        help: "remove `max_delay`: each delay is at most `base`",
    },
];

/// The keys that have an effect even if nothing is retried. `budget` is among them: a success adds tokens.
const ABOUT_ATTEMPTS: &str =
    "attempts timeout deadline budget idempotent nested cancel on_end sensitive";

pub(super) fn check(model: &Model, errors: &mut Errors) {
    let facts = Facts::of(model);
    // If nothing is retried, `never_retries` has reported the keys of delays already.
    let retries = !never_retries(&facts, errors);
    if retries {
        idle(&facts, errors);
    }
    let ordered = lengths_too_long(&facts, retries, errors);
    cut_while_blocking(&facts, errors);
    if retries {
        if facts.place("delays").is_some() {
            decorrelated_delays(&facts, errors);
        } else if ordered {
            no_second_attempt(&facts, errors);
        }
        contradictions(&facts, errors);
    }
}

/// Reports `attempts = 1` beside keys about retries: one error that names all of these keys.
fn never_retries(facts: &Facts<'_>, errors: &mut Errors) -> bool {
    let attempts = facts.model.attempts.as_ref();
    if !attempts
        .is_some_and(|attempts| matches!(attempts.value, Setting::Fixed(Attempts::Count(1))))
    {
        return false;
    }
    let mut places = facts.places.clone();
    places.retain(|place| !text::among(ABOUT_ATTEMPTS, place.key));
    places.sort_by_key(|place| place.name.position);
    let keys: Vec<_> = places.iter().map(|place| place.key).collect();
    if keys.is_empty() {
        return false;
    }
    let at = facts.last_key(&[&keys[..], &["attempts"]].concat());
    report(errors, at, wording::never_retries(&keys));
    true
}

fn idle(facts: &Facts<'_>, errors: &mut Errors) {
    let mut told = Vec::new();
    for rule in IDLE {
        let Some(with) = (rule.with)(facts) else {
            continue;
        };
        let keys = PolicyKey::ALL.iter().copied();
        let mut keys: Vec<_> = keys.filter(|key| (rule.keys)(*key)).collect();
        // Messages about the same place come in the order of the alphabet.
        keys.sort_by_key(|key| key.name());
        for key in keys {
            if facts.place(key.name()).is_none() || told.contains(&key) || (rule.unless)(facts, key)
            {
                continue;
            }
            told.push(key);
            let help = rule.help.replace("{idle}", key.name());
            let at = facts.last_key(&[key.name(), rule.because]);
            report(errors, at, wording::no_effect(key.name(), &with, &help));
        }
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
            report(
                errors,
                facts.last_value(&keys),
                wording::too_long(&found, given),
            );
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
    ] {
        let at = facts.last_key(&[key]);
        report(errors, at, wording::cut_while_blocking(key, instead));
    }
}

/// Reports decorrelated jitter beside `delays`. It draws each delay from the delay before, not from a list.
fn decorrelated_delays(facts: &Facts<'_>, errors: &mut Errors) {
    if facts.decorrelated().is_some() {
        let at = facts.last_key(&["delays", "jitter"]);
        report(errors, at, wording::decorrelated_delays());
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
        let at = facts.last_value(&["deadline", "base", "jitter"]);
        let message = wording::no_second_attempt(deadline, shortest, jitter);
        report(errors, at, message);
    }
}

fn contradictions(facts: &Facts<'_>, errors: &mut Errors) {
    let rules = &facts.model.rules;
    if let Some(ty) = rules.contradiction() {
        let at = facts.last_key(&["on", "not_on"]);
        report(
            errors,
            at,
            wording::on_and_not_on(&typed(&ty.to_token_stream())),
        );
    }
    if let (Some(when), Some(unless)) = (&rules.when, &rules.unless) {
        if same(&when.value, &unless.value) {
            let at = facts.last_key(&["when", "unless"]);
            let when = typed(&when.value.to_token_stream());
            report(errors, at, wording::when_and_unless(&when));
        }
    }
}

fn report(errors: &mut Errors, at: Option<At>, message: Message) {
    if let Some(at) = at {
        errors.push(at, message);
    }
}
