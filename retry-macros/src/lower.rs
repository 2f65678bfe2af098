//! Turns the arguments as typed, [`RawArg`]s, into a [`Model`].
//!
//! Reads each argument alone, in the order of the source, and then checks the rules between keys. A key
//! that failed is not in the model, so that these rules do not report its mistake again.

mod clone;
mod duration;
mod expression;
mod number;
mod path;
mod pattern;
mod rule;
mod types;
mod unknown;
mod word;

#[cfg(test)]
pub(crate) mod tests;

use crate::errors::{Errors, Fault, key as wording};
use crate::given::Given;
use crate::keys::{self, Id};
use crate::model::{Model, Spanned};
use crate::syntax::{RawArg, Vocabulary};

/// The keys of `#[retry]`.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    find: keys::find,
    not_a_key: wording::not_a_key,
};

/// Makes the model. Reports each wrong setting in `errors`, and leaves it out.
pub(crate) fn lower(args: Vec<RawArg>, errors: &mut Errors) -> Model {
    let mut model = Model::default();
    let mut keys = args.iter();
    let blocking = keys.find(|arg| Id::named(&arg.name) == Some(Id::Blocking));
    model.blocking = blocking.map(RawArg::at);
    // The first value of a key that is given twice goes here, where the rules between keys do not see it.
    let mut twice = Model::default();
    let names: Vec<String> = args.iter().map(|arg| arg.name.clone()).collect();
    for (index, arg) in args.into_iter().enumerate() {
        let Some(id) = Id::named(&arg.name) else {
            errors.push(arg.at(), unknown::unknown(&arg.name, &arg.value));
            continue;
        };
        let is_same = |name: &&String| **name == arg.name;
        if names.iter().position(|name| is_same(&name)) != Some(index) {
            errors.push(arg.at(), wording::duplicate(id.key()));
            continue;
        }
        let single = names.iter().filter(is_same).count() == 1;
        if let Some(given) = Given::new(id.key(), arg, errors) {
            let model = if single { &mut model } else { &mut twice };
            set(model, id, &given, errors);
        }
    }
    rule::check(&model, errors);
    model
}

fn set(model: &mut Model, id: Id, given: &Given, errors: &mut Errors) {
    let blocking = model.blocking.is_some();
    let rules = &mut model.rules;
    let result = match id {
        Id::Attempts => put(&mut model.attempts, given, number::attempts(given)),
        Id::Backoff => put(&mut model.backoff, given, word::word(given, &word::BACKOFF)),
        Id::Factor => put(&mut model.factor, given, number::factor(given)),
        Id::Jitter => put(&mut model.jitter, given, word::word(given, &word::JITTER)),
        Id::Delays => put(&mut model.delays, given, duration::delays(given, errors)),
        Id::RetryAfter => put(&mut model.retry_after, given, expression::function(given)),
        Id::On => put(&mut rules.on, given, types::types(given, errors)),
        Id::Matches => put(&mut rules.matches, given, pattern::pattern(given)),
        Id::When => put(&mut rules.when, given, expression::function(given)),
        Id::Unless => put(&mut rules.unless, given, expression::function(given)),
        Id::NotOn => put(&mut rules.not_on, given, types::types(given, errors)),
        Id::WhenOk => put(&mut model.when_ok, given, expression::function(given)),
        Id::Until => put(&mut model.until, given, expression::until(given)),
        Id::Policy => keep(&mut model.policy, path::policy(given)),
        Id::Budget => put(&mut model.budget, given, path::budget(given)),
        Id::Idempotent => put(&mut model.idempotent, given, word::boolean(given)),
        Id::Nested => put(&mut model.nested, given, word::word(given, &word::NESTED)),
        Id::Cancel => put(&mut model.cancel, given, expression::future(given)),
        Id::CancelWaits => put(&mut model.cancel_waits, given, expression::future(given)),
        Id::Clone => put(&mut model.clone, given, clone::names(given, errors)),
        Id::OnRetry => put(&mut model.on_retry, given, expression::function(given)),
        Id::BeforeRetry => put(
            &mut model.before_retry,
            given,
            expression::before_retry(given, blocking),
        ),
        Id::OnEnd => put(&mut model.on_end, given, expression::function(given)),
        Id::Blocking => word::flag(given).map_err(Some),
        Id::Sensitive => put(&mut model.sensitive, given, word::flag(given)),
        Id::Name => keep(&mut model.name, path::name(given)),
        Id::Crate => keep(&mut model.root, path::root(given)),
        Id::Hedge if given.text().as_deref() == Some("policy") => {
            model.hedge = Some(given.spanned(()));
            Ok(())
        }
        // Each other key is a duration.
        length => duration::length(given).map_err(Some).map(|value| {
            model.lengths.push((length, given.spanned(value)));
        }),
    };
    if let Err(Some(fault)) = result {
        errors.push(fault.at, fault.message);
    }
}

/// Sets a setting whose place in the source no later rule needs.
fn keep<T>(slot: &mut Option<T>, value: Result<T, Fault>) -> Lowered<()> {
    *slot = Some(value?);
    Ok(())
}

/// `Err(None)` if the mistakes are reported already.
type Lowered<T> = Result<T, Option<Fault>>;

/// Reads each element of a list, and reports those that are wrong.
fn each<T>(
    elements: Vec<Given>,
    errors: &mut Errors,
    mut read: impl FnMut(&Given) -> Result<T, Fault>,
) -> Lowered<Vec<T>> {
    let before = errors.count();
    let mut found = Vec::new();
    for element in elements {
        match read(&element) {
            Ok(value) => found.push(value),
            Err(fault) => errors.push(fault.at, fault.message),
        }
    }
    unless_reported(found, before, errors)
}

/// The elements of a list, unless one was reported since there were `before` mistakes.
fn unless_reported<T>(found: Vec<T>, before: usize, errors: &Errors) -> Lowered<Vec<T>> {
    if errors.count() > before {
        return Err(None);
    }
    Ok(found)
}

fn put<T, E: Into<Option<Fault>>>(
    slot: &mut Option<Spanned<T>>,
    given: &Given,
    value: Result<T, E>,
) -> Lowered<()> {
    *slot = Some(given.spanned(value.map_err(Into::into)?));
    Ok(())
}
