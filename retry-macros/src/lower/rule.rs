//! Rules between keys. Only what is certain: literals, and defaults where no `policy` can change
//! them.

use std::time::Duration;

use quote::ToTokens;

use super::types::same;
use crate::errors::{At, Errors, Message, combination as wording, typed};
use crate::keys::Id;
use crate::model::{Attempts, Length, Model, Rules, Spanned, Word};

/// The defaults of the runtime, which a `policy` may change.
const BASE: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(20);

/// These keys have no effect because of that one.
struct Idle {
    because: Id,
    /// The setting of that key with which they have none, as one would write it.
    with: fn(&Facts<'_>) -> Option<String>,
    keys: &'static [Id],
    /// Whether a key has an effect after all.
    unless: fn(&Facts<'_>, Id) -> bool,
    /// What to do; `{idle}` stands for the key.
    help: &'static str,
}

static IDLE: &[Idle] = &[
    Idle {
        because: Id::Base,
        with: |facts| facts.no_delay().then(|| "base = \"0s\"".to_owned()),
        keys: &[Id::Backoff, Id::Factor, Id::MaxDelay],
        unless: |facts, key| key == Id::Backoff && facts.has_backoff("constant"),
        help: "remove `{idle}`, or write a longer `base`",
    },
    Idle {
        because: Id::Backoff,
        with: |facts| {
            let backoff = facts.backoff.as_ref()?;
            (backoff != "exponential").then(|| format!("backoff = \"{backoff}\""))
        },
        keys: &[Id::Factor],
        unless: |_, _| false,
        help: "remove `factor`, it belongs to `backoff = \"exponential\"`",
    },
    Idle {
        because: Id::Jitter,
        with: |facts| facts.decorrelated(),
        keys: &[Id::Factor],
        unless: |_, _| false,
        help: "remove `factor`, it belongs to `backoff = \"exponential\"`",
    },
    Idle {
        because: Id::Jitter,
        with: |facts| facts.decorrelated(),
        keys: &[Id::Backoff],
        unless: |facts, _| facts.no_delay(),
        help: "remove `backoff`: each delay is drawn from `base` to 3 times the last",
    },
    Idle {
        because: Id::Backoff,
        with: |facts| {
            let constant = facts.has_backoff("constant");
            constant.then(|| "backoff = \"constant\"".to_owned())
        },
        keys: &[Id::MaxDelay],
        unless: |facts, _| facts.jitter_grows() || facts.max_delay_is_needed(),
        help: "remove `max_delay`: each delay is at most `base`",
    },
];

/// Whether a key says nothing where nothing is retried. A success feeds the budget all the same.
fn is_about_retries(key: Id) -> bool {
    match key {
        Id::Backoff
        | Id::Base
        | Id::MaxDelay
        | Id::Factor
        | Id::Jitter
        | Id::On
        | Id::Matches
        | Id::When
        | Id::Unless
        | Id::NotOn
        | Id::WhenOk
        | Id::Clone
        | Id::OnRetry
        | Id::BeforeRetry => true,
        Id::Attempts
        | Id::Timeout
        | Id::Deadline
        | Id::Policy
        | Id::Budget
        | Id::Idempotent
        | Id::Nested
        | Id::Cancel
        | Id::Name
        | Id::Crate => false,
    }
}

pub(super) fn check(model: &Model, errors: &mut Errors) {
    let facts = Facts::of(model);
    // Where nothing is retried, what is said of delays would be about the same keys again.
    let retries = !never_retries(&facts, errors);
    if retries {
        idle(&facts, errors);
    }
    timeout_above_deadline(&facts, errors);
    if retries {
        if !base_above_max_delay(&facts, errors) {
            no_second_attempt(&facts, errors);
        }
        contradictions(&facts, errors);
    }
}

/// `attempts = 1` with keys that are about retries: one error that names them all.
fn never_retries(facts: &Facts<'_>, errors: &mut Errors) -> bool {
    let attempts = facts.model.attempts.as_ref();
    if !attempts.is_some_and(|attempts| matches!(attempts.value, Attempts::Count(1))) {
        return false;
    }
    let mut places = facts.places.clone();
    places.retain(|place| is_about_retries(place.key));
    places.sort_by_key(|place| place.name.position);
    let keys: Vec<_> = places.iter().map(|place| place.key).collect();
    if keys.is_empty() {
        return false;
    }
    let names: Vec<_> = keys.iter().map(|key| key.key().name).collect();
    let last = facts.last(&[&keys[..], &[Id::Attempts]].concat());
    report(
        errors,
        last.map(|place| place.name),
        wording::never_retries(&names),
    );
    true
}

fn idle(facts: &Facts<'_>, errors: &mut Errors) {
    let mut told = Vec::new();
    for rule in IDLE {
        let Some(with) = (rule.with)(facts) else {
            continue;
        };
        for &key in rule.keys {
            if facts.place(key).is_none() || told.contains(&key) || (rule.unless)(facts, key) {
                continue;
            }
            told.push(key);
            let name = key.key().name;
            let help = rule.help.replace("{idle}", name);
            let last = facts.last(&[key, rule.because]);
            report(
                errors,
                last.map(|place| place.name),
                wording::no_effect(name, &with, &help),
            );
        }
    }
}

fn timeout_above_deadline(facts: &Facts<'_>, errors: &mut Errors) {
    let timeout = fixed(facts.model.timeout.as_ref());
    let deadline = fixed(facts.model.deadline.as_ref());
    if let (Some(timeout), Some(deadline)) = (timeout, deadline) {
        if timeout > deadline {
            let last = facts.last(&[Id::Timeout, Id::Deadline]);
            let message = wording::timeout_above_deadline(timeout, deadline);
            report(errors, last.map(|place| place.value), message);
        }
    }
}

fn base_above_max_delay(facts: &Facts<'_>, errors: &mut Errors) -> bool {
    let (Some(base), Some(max_delay)) = (facts.base, facts.max_delay) else {
        return false;
    };
    if base <= max_delay {
        return false;
    }
    let message = match (facts.place(Id::Base), facts.place(Id::MaxDelay)) {
        (Some(_), Some(_)) => wording::base_above_max_delay(base, max_delay),
        (Some(_), None) => wording::base_above_default(base, max_delay),
        _ => wording::max_delay_below_default(max_delay, base),
    };
    let last = facts.last(&[Id::Base, Id::MaxDelay]);
    report(errors, last.map(|place| place.value), message);
    true
}

/// The deadline is over before the shortest first wait is.
fn no_second_attempt(facts: &Facts<'_>, errors: &mut Errors) {
    let deadline = fixed(facts.model.deadline.as_ref());
    let (Some(deadline), Some(base), Some(jitter)) = (deadline, facts.base, &facts.jitter) else {
        return;
    };
    // The wait before the second attempt has the ceiling `base` with every backoff. Full jitter
    // may draw next to nothing below it.
    let shortest = match jitter.as_str() {
        "none" | "decorrelated" => base,
        "equal" => base / 2,
        _ => return,
    };
    if shortest >= deadline {
        let last = facts.last(&[Id::Deadline, Id::Base, Id::Jitter]);
        let message = wording::no_second_attempt(deadline, shortest, jitter);
        report(errors, last.map(|place| place.value), message);
    }
}

fn contradictions(facts: &Facts<'_>, errors: &mut Errors) {
    let rules = &facts.model.rules;
    if let Some(ty) = rules.contradiction() {
        let last = facts.last(&[Id::On, Id::NotOn]);
        let message = wording::on_and_not_on(&typed(&ty.to_token_stream()));
        report(errors, last.map(|place| place.name), message);
    }
    if let (Some(when), Some(unless)) = (&rules.when, &rules.unless) {
        if same(&when.value, &unless.value) {
            let last = facts.last(&[Id::When, Id::Unless]);
            let message = wording::when_and_unless(&typed(&when.value.to_token_stream()));
            report(errors, last.map(|place| place.name), message);
        }
    }
}

fn report(errors: &mut Errors, at: Option<At>, message: Message) {
    if let Some(at) = at {
        errors.push(at, message);
    }
}

/// What is certain of a model.
struct Facts<'a> {
    model: &'a Model,
    /// The keys that were given.
    places: Vec<Place>,
    /// The words, as typed.
    backoff: Option<String>,
    jitter: Option<String>,
    base: Option<Duration>,
    max_delay: Option<Duration>,
}

/// Where a key and its value are.
#[derive(Clone, Copy)]
struct Place {
    key: Id,
    name: At,
    value: At,
}

impl<'a> Facts<'a> {
    fn of(model: &'a Model) -> Self {
        let Model {
            // These two say nothing of retries, and of a `policy` its presence is enough.
            root: _,
            name: _,
            policy,
            attempts,
            timeout,
            deadline,
            backoff,
            base,
            max_delay,
            factor,
            jitter,
            rules:
                Rules {
                    unless,
                    not_on,
                    matches,
                    on,
                    when,
                },
            when_ok,
            clone,
            budget,
            idempotent,
            nested,
            cancel,
            on_retry,
            before_retry,
        } = model;
        let places = [
            place(Id::Attempts, attempts.as_ref()),
            place(Id::Timeout, timeout.as_ref()),
            place(Id::Deadline, deadline.as_ref()),
            place(Id::Backoff, backoff.as_ref()),
            place(Id::Base, base.as_ref()),
            place(Id::MaxDelay, max_delay.as_ref()),
            place(Id::Factor, factor.as_ref()),
            place(Id::Jitter, jitter.as_ref()),
            place(Id::Unless, unless.as_ref()),
            place(Id::NotOn, not_on.as_ref()),
            place(Id::Matches, matches.as_ref()),
            place(Id::On, on.as_ref()),
            place(Id::When, when.as_ref()),
            place(Id::WhenOk, when_ok.as_ref()),
            place(Id::Clone, clone.as_ref()),
            place(Id::Budget, budget.as_ref()),
            place(Id::Idempotent, idempotent.as_ref()),
            place(Id::Nested, nested.as_ref()),
            place(Id::Cancel, cancel.as_ref()),
            place(Id::OnRetry, on_retry.as_ref()),
            place(Id::BeforeRetry, before_retry.as_ref()),
        ];
        let or_default = |setting: &Option<Spanned<Length>>, default: Duration| match setting {
            None => policy.is_none().then_some(default),
            setting => fixed(setting.as_ref()),
        };
        Self {
            model,
            places: places.into_iter().flatten().collect(),
            backoff: word(backoff.as_ref()),
            jitter: word(jitter.as_ref()),
            base: or_default(base, BASE),
            max_delay: or_default(max_delay, MAX_DELAY),
        }
    }

    fn place(&self, key: Id) -> Option<Place> {
        self.places.iter().find(|place| place.key == key).copied()
    }

    /// The key that was written last: until then all was well.
    fn last(&self, keys: &[Id]) -> Option<Place> {
        let places = keys.iter().filter_map(|&key| self.place(key));
        places.max_by_key(|place| place.name.position)
    }

    fn no_delay(&self) -> bool {
        self.base == Some(Duration::ZERO)
    }

    fn has_backoff(&self, word: &str) -> bool {
        self.backoff.as_deref() == Some(word)
    }

    fn decorrelated(&self) -> Option<String> {
        let decorrelated = self.jitter.as_deref() == Some("decorrelated");
        decorrelated.then(|| "jitter = \"decorrelated\"".to_owned())
    }

    /// Decorrelated jitter grows by itself; so may a jitter that a policy or a constant names.
    fn jitter_grows(&self) -> bool {
        match (&self.model.jitter, &self.jitter) {
            (Some(_), Some(word)) => word == "decorrelated",
            (Some(_), None) => true,
            (None, _) => self.model.policy.is_some(),
        }
    }

    /// Below `base` it is a contradiction, which another rule reports; as long as `base` it says the
    /// same; and beside a `base` above the default it is needed.
    fn max_delay_is_needed(&self) -> bool {
        match (self.base, fixed(self.model.max_delay.as_ref())) {
            (Some(base), Some(max_delay)) => max_delay <= base || base > MAX_DELAY,
            _ => self.model.base.is_some(),
        }
    }
}

fn place<T>(key: Id, setting: Option<&Spanned<T>>) -> Option<Place> {
    setting.map(|setting| Place {
        key,
        name: At::from(setting.key).within(setting.position),
        value: At::from(setting.span).within(setting.position),
    })
}

fn fixed(setting: Option<&Spanned<Length>>) -> Option<Duration> {
    match setting?.value {
        Length::Fixed(duration) => Some(duration),
        Length::Expr(_) => None,
    }
}

fn word(setting: Option<&Spanned<Word>>) -> Option<String> {
    match &setting?.value {
        Word::Variant(variant) => Some(variant.to_string().to_lowercase()),
        Word::Expr(_) => None,
    }
}
