//! Rules between keys. They use only what is certain: literals, and defaults that no `policy` can change.

use std::collections::HashSet;
use std::time::Duration;

use proc_macro2::TokenStream;

use super::types::text_of;
use crate::errors::{At, Errors, Message, combination as wording, typed};
use crate::given::Given;
use crate::keys::{Id, KEYS, Key};
use crate::model::{Model, Spanned, UnlessRule, Written, is_fixed};
use crate::text;

/// The keys that have an effect even if nothing is retried. `budget` is among them: a success adds tokens.
const ABOUT_ATTEMPTS: &str = "attempts timeout deadline policy budget idempotent nested cancel cancel_waits on_end blocking \
                              sensitive silent until verdict name crate";

/// The keys that say how long the first attempt waits in a pause, which only a budget that the attribute names can have.
const ABOUT_PAUSES: &str = "base min_delay max_delay delays jitter max_retry_after";

/// What is certain of a model, whatever its policy and its expressions turn out to be.
struct Facts<'a> {
    model: &'a Model,
    /// The keys that were given, in the order of the source.
    given: &'a [Given],
    errors: &'a mut Errors,
}

impl<'a> Facts<'a> {
    /// The duration of a key, or its default, which a `policy` may change.
    fn length(&self, key: Id) -> Option<Duration> {
        match self.model.length(key) {
            Some(length) => length.value.fixed().copied(),
            None => key.key().default.filter(|_| self.model.policy.is_none()),
        }
    }

    fn given(&self, key: &str) -> Option<&'a Given> {
        self.given.iter().find(|given| given.key.name == key)
    }

    /// The last of these keys in the source. Without that key there is no mistake, so the error points at it.
    fn last(&self, keys: &[&str]) -> Option<&'a Given> {
        let given = keys.iter().filter_map(|&key| self.given(key));
        given.max_by_key(|given| given.at.position)
    }

    /// Reports a mistake of which all of these keys are a part, if they are given.
    fn report(&mut self, keys: &[&str], message: Message) {
        let is_given = keys.iter().all(|key| self.given(key).is_some());
        if let Some(given) = self.last(keys).filter(|_| is_given) {
            self.errors.push(given.name, message);
        }
    }

    /// Reports a mistake at the value of the last of these keys.
    fn report_value(&mut self, keys: &[&str], message: Message) {
        if let Some(Given { at, .. }) = self.last(keys) {
            self.errors.push(
                At {
                    end: at.start,
                    ..*at
                },
                message,
            );
        }
    }
}

pub(super) fn check(model: &Model, given: &[Given], errors: &mut Errors) {
    let facts = &mut Facts {
        model,
        given,
        errors,
    };
    // If nothing is retried, `never_retries` has reported the keys of delays already.
    let retries = !never_retries(facts);
    let ordered = lengths_too_long(facts, retries);
    contradictions(facts, retries);
    if retries {
        if ordered && facts.given("delays").is_none() && !model.never_retries() {
            no_second_attempt(facts);
        }
        never_retried(facts);
    }
}

/// Reports `attempts = 1` beside keys about retries: one error that names all of these keys.
fn never_retries(facts: &mut Facts<'_>) -> bool {
    if !facts.model.never_retries() {
        return false;
    }
    let pauses = (facts.model.budget.as_ref()).is_some_and(|budget| budget.value.expr().is_some());
    let mut keys: Vec<_> = facts.given.iter().map(|given| given.key.name).collect();
    keys.retain(|key| {
        let counts = pauses && text::among(ABOUT_PAUSES, key);
        !counts && !text::among(ABOUT_ATTEMPTS, key)
    });
    if keys.is_empty() {
        return false;
    }
    let message = wording::never_retries(&keys);
    keys.push("attempts");
    facts.report(&keys, message);
    true
}

/// Reports durations that are longer than those they must not exceed. Returns whether there are none. If nothing is retried, the
/// delays do not matter.
fn lengths_too_long(facts: &mut Facts<'_>, retries: bool) -> bool {
    let delays = facts.given("delays").is_some();
    let mut ordered = true;
    let keys = Id::ALL.iter().copied();
    for short in keys.filter(|short| !(delays && short.key().delays_replace)) {
        for &long in short.key().at_most {
            let (Some(length), Some(limit)) = (facts.length(short), facts.length(long)) else {
                continue;
            };
            let keys = [short.key().name, long.key().name];
            let counts = retries || keys.iter().all(|key| text::among(ABOUT_ATTEMPTS, key));
            // A hedge that is as long as a limit would begin when nothing is left of it.
            if counts && (length > limit || length == limit && short == Id::Hedge) {
                ordered = false;
                let given = keys.map(|key| facts.given(key).is_some());
                let message = wording::too_long((short.key(), length), (long.key(), limit), given);
                facts.report_value(&keys, message);
            }
        }
    }
    ordered
}

/// Reports a deadline that is over before the shortest possible first wait.
fn no_second_attempt(facts: &mut Facts<'_>) {
    let [deadline, base] = [Id::Deadline, Id::Base].map(|key| facts.length(key));
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
        facts.report_value(&["deadline", "base", "jitter"], message);
    }
}

/// Reports keys that contradict each other, and keys that have no effect because of another key. If nothing is retried, the
/// delays do not matter.
fn contradictions(facts: &mut Facts<'_>, retries: bool) {
    let model = facts.model;
    let blocking = model.blocking.is_some();
    let once = model.is_not_idempotent();
    let unlimited = model.budget.is_none() && is_fixed(model.attempts.as_ref(), &None);
    let drawn = retries && word(model.jitter.as_ref()).as_deref() == Some("decorrelated");
    let computed = retries && facts.given("delays").is_none();
    let backoff = word(model.backoff.as_ref()).filter(|word| computed && word != "exponential");
    let (by_backoff, backoff) = (backoff.is_some(), backoff.unwrap_or_default());
    let backoff = &format!("backoff = \"{backoff}\"");
    let jitter = "jitter = \"decorrelated\"";
    let exponential = "it belongs to `backoff = \"exponential\"`";
    let from_last = "each delay is drawn from `base` to `factor` times the last";
    let waits = "write `cancel_waits` in its place, which ends the waits";
    let (owned, next) = (
        model.owned_delays.is_some(),
        "each retry takes the next of the delays",
    );
    let client = "set a timeout in the client that the body calls";
    // A row a line: the keys that were given, what else must hold, and the message.
    #[rustfmt::skip]
    let rows: [(&[_], _, _); 17] = [
        (&["timeout"], blocking, wording::cut_while_blocking("timeout", client)),
        (&["cancel"], blocking, wording::cut_while_blocking("cancel", waits)),
        (&["cancel", "cancel_waits"], true, wording::cancelled_twice()),
        (&["hedge"], blocking, wording::hedge_while_blocking()),
        (&["hedge", "idempotent"], once, wording::hedge_not_idempotent()),
        (&["hedge", "budget"], is_fixed(model.budget.as_ref(), &()), wording::hedge_without_budget("budget = \"none\"")),
        (&["hedge", "attempts"], unlimited, wording::hedge_without_budget("attempts = \"unlimited\"")),
        (&["hedge"], model.hedge_of_policy && model.policy.is_none(), wording::hedge_without_policy()),
        (&["hedge", "delays"], owned, wording::hedge_with_owned_delays()),
        (&["retry_after", "delays"], owned, wording::no_effect("retry_after", "delays = &mut …", next)),
        (&["jitter", "delays"], owned, wording::no_effect("jitter", "delays = &mut …", next)),
        (&["on", "verdict"], true, wording::verdict_beside_on()),
        (&["until", "when_ok"], true, wording::until_and_when_ok()),
        (&["until", "idempotent"], once, wording::until_without_repeats()),
        (&["delays", "jitter"], drawn, wording::decorrelated_delays()),
        (&["factor", "backoff"], by_backoff && !drawn, wording::no_effect("factor", backoff, exponential)),
        (&["backoff", "jitter"], drawn && computed, wording::no_effect("backoff", jitter, from_last)),
    ];
    for (keys, holds, message) in rows {
        if holds {
            facts.report(keys, message);
        }
    }
    for Key { name, .. } in KEYS.iter().filter(|key| retries && key.delays_replace) {
        let help = "`delays` says how long each delay is";
        facts.report(&[name, "delays"], wording::no_effect(name, "delays", help));
    }
}

/// The word of a setting, if it is a literal.
fn word(setting: Option<&Spanned<Written<TokenStream>>>) -> Option<String> {
    let variant = setting?.value.fixed()?;
    Some(variant.to_string().to_lowercase())
}

/// Reports a type or a function that `unless` refuses, and `on` or `when` retries.
fn never_retried(facts: &mut Facts<'_>) {
    let rules = &facts.model.rules;
    let twice = match rules.unless.as_ref().map(|unless| &unless.value) {
        Some(UnlessRule::Types(unless)) => {
            let unless: HashSet<_> = unless.iter().map(text_of).collect();
            let mut on = rules.on.iter().flat_map(|on| &on.value);
            let refused = on.find(|ty| unless.contains(&text_of(ty)));
            refused.map(|ty| ("on", typed(ty)))
        }
        Some(UnlessRule::Function(unless)) => {
            let when = rules.when.as_ref();
            let when = when.filter(|when| text_of(&when.value) == text_of(&unless.value));
            when.map(|when| ("when", typed(&when.value)))
        }
        None => None,
    };
    if let Some((key, found)) = twice {
        let message = wording::never_retried(key, &found);
        facts.report(&[key, "unless"], message);
    }
}
