//! From what was typed to what is meant: [`RawArg`]s to a [`Model`].
//!
//! Each argument is judged alone, in the order of the source; then the rules between keys. A key
//! that has failed is absent from the model, and so from those rules: one mistake is one error.

mod clone;
mod duration;
mod duration_text;
mod expression;
mod given;
mod number;
mod path;
mod pattern;
mod rule;
mod types;
mod word;

#[cfg(test)]
pub(crate) mod tests;

use self::given::Given;
use crate::errors::{Errors, Fault, key as wording};
use crate::keys::{self, Id, Key};
use crate::model::{Model, Spanned};
use crate::syntax::RawArg;

/// Makes the model; what was wrong is in `errors`, and left out.
pub(crate) fn lower(args: Vec<RawArg>, errors: &mut Errors) -> Model {
    let mut model = Model::default();
    // Where one of two values is wrong, no other rule can know which.
    let mut twice = Model::default();
    let names: Vec<String> = args.iter().map(|arg| arg.name.clone()).collect();
    let mut seen = Vec::new();
    for arg in args {
        errors.seek(arg.position);
        let Some(key) = keys::find(&arg.name) else {
            errors.push(arg.span, wording::unknown(&arg.name, &arg.value));
            continue;
        };
        if seen.contains(&key.id) {
            errors.push(arg.span, wording::duplicate(key));
            continue;
        }
        seen.push(key.id);
        if let Some(given) = Given::new(key, arg, errors) {
            let single = names.iter().filter(|name| *name == key.name).count() == 1;
            let model = if single { &mut model } else { &mut twice };
            set(model, key, &given, errors);
        }
    }
    rule::check(&model, errors);
    errors.seek(Errors::ITEM);
    model
}

fn set(model: &mut Model, key: &Key, given: &Given, errors: &mut Errors) {
    let rules = &mut model.rules;
    let result = match key.id {
        Id::Attempts => put(&mut model.attempts, given, number::attempts(given)),
        Id::Timeout => put(&mut model.timeout, given, duration::length(given)),
        Id::Deadline => put(&mut model.deadline, given, duration::length(given)),
        Id::Backoff => put(&mut model.backoff, given, word::word(given, &word::BACKOFF)),
        Id::Base => put(&mut model.base, given, duration::length(given)),
        Id::MaxDelay => put(&mut model.max_delay, given, duration::length(given)),
        Id::Factor => put(&mut model.factor, given, number::factor(given)),
        Id::Jitter => put(&mut model.jitter, given, word::word(given, &word::JITTER)),
        Id::On => put(&mut rules.on, given, types::types(given, errors)),
        Id::Matches => put(&mut rules.matches, given, pattern::pattern(given)),
        Id::When => put(&mut rules.when, given, expression::function(given)),
        Id::Unless => put(&mut rules.unless, given, expression::function(given)),
        Id::NotOn => put(&mut rules.not_on, given, types::types(given, errors)),
        Id::WhenOk => put(&mut model.when_ok, given, expression::function(given)),
        Id::Policy => keep(&mut model.policy, path::policy(given)),
        Id::Budget => put(&mut model.budget, given, path::budget(given)),
        Id::Idempotent => put(&mut model.idempotent, given, word::boolean(given)),
        Id::Nested => put(&mut model.nested, given, word::word(given, &word::NESTED)),
        Id::Cancel => put(&mut model.cancel, given, expression::future(given)),
        Id::Clone => put(&mut model.clone, given, clone::names(given, errors)),
        Id::OnRetry => put(&mut model.on_retry, given, expression::function(given)),
        Id::BeforeRetry => put(
            &mut model.before_retry,
            given,
            expression::before_retry(given),
        ),
        Id::Name => keep(&mut model.name, path::name(given)),
        Id::Crate => keep(&mut model.root, path::root(given)),
    };
    if let Err(Some(fault)) = result {
        errors.push(fault.at, fault.message);
    }
}

/// For the settings that no rule and no error looks at again.
fn keep<T>(slot: &mut Option<T>, value: Result<T, Fault>) -> Lowered<()> {
    *slot = Some(value?);
    Ok(())
}

/// `Err(None)`: what is wrong has been reported.
type Lowered<T> = Result<T, Option<Fault>>;

fn put<T, E: Into<Option<Fault>>>(
    slot: &mut Option<Spanned<T>>,
    given: &Given,
    value: Result<T, E>,
) -> Lowered<()> {
    *slot = Some(given.spanned(value.map_err(Into::into)?));
    Ok(())
}
