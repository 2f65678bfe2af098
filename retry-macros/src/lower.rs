//! Turns the arguments as typed, [`RawArg`]s, into a [`Model`].
//!
//! Reads each argument alone, in the order of the source, and then checks the rules between keys. A key
//! that failed is not in the model, so that these rules do not report its mistake again.

mod duration;
mod expression;
mod rule;
mod types;
mod unknown;
mod word;

#[cfg(test)]
pub(crate) mod tests;

use crate::errors::{Errors, Mistake, value as wording};
use crate::given::Given;
use crate::keys::{self, Id};
use crate::model::{Model, UnlessRule};
use crate::syntax::{RawArg, Vocabulary, asks_function};
use syn::Path;

/// The keys of `#[retry]`.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    find: keys::find,
    not_a_key: wording::not_a_key,
};

/// Makes the model. Reports each wrong setting in `errors`, and leaves it out.
pub(crate) fn lower(args: Vec<RawArg>, errors: &mut Errors) -> Model {
    let mut model = Model::default();
    let blocking = args.iter().find(|arg| arg.name == "blocking");
    model.blocking = blocking.map(|arg| arg.at);
    // The first value of a key that is given twice goes here, where the rules between keys do not see it.
    let mut twice = Model::default();
    let mut found = Vec::new();
    let names: Vec<String> = args.iter().map(|arg| arg.name.clone()).collect();
    for (index, arg) in args.into_iter().enumerate() {
        let Some(id) = Id::named(&arg.name) else {
            errors.push(arg.at, unknown::unknown(&arg.name, &arg.value));
            continue;
        };
        let is_same = |name: &&String| **name == arg.name;
        if names.iter().position(|name| is_same(&name)) != Some(index) {
            errors.push(arg.at, wording::duplicate(id.key()));
            continue;
        }
        let single = names.iter().filter(is_same).count() == 1;
        let Some(given) = Given::new(id.key(), arg, errors) else {
            continue;
        };
        let model = if single { &mut model } else { &mut twice };
        match set(model, id, &given) {
            Ok(()) => found.extend(single.then_some(given)),
            Err(mistakes) => errors.extend(mistakes),
        }
    }
    rule::check(&model, &found, errors);
    model
}

fn set(model: &mut Model, id: Id, given: &Given) -> Result<(), Vec<Mistake>> {
    let blocking = model.blocking.is_some();
    let rules = &mut model.rules;
    match id {
        Id::Attempts => model.attempts = Some(given.spanned(word::attempts(given)?)),
        Id::Backoff => model.backoff = Some(given.spanned(word::word(given, &word::BACKOFF)?)),
        Id::Factor => model.factor = Some(given.spanned(word::factor(given)?)),
        Id::Jitter => model.jitter = Some(given.spanned(word::word(given, &word::JITTER)?)),
        Id::Delays => match duration::owned_delays(given)? {
            Some(expr) => model.owned_delays = Some(given.spanned(expr)),
            None => model.delays = Some(given.spanned(duration::delays(given)?)),
        },
        Id::RetryAfter => model.retry_after = Some(given.spanned(expression::function(given)?)),
        Id::On => rules.on = Some(given.spanned(types::types(given)?)),
        Id::When => rules.when = Some(given.spanned(expression::function(given)?)),
        Id::Verdict => rules.verdict = Some(given.spanned(expression::function(given)?)),
        Id::Unless => {
            let value = if asks_function(given.form.tokens().unwrap_or_default()) {
                UnlessRule::Function(given.spanned(expression::function(given)?))
            } else {
                UnlessRule::Types(types::types(given)?)
            };
            rules.unless = Some(given.spanned(value));
        }
        Id::WhenOk => model.when_ok = Some(given.spanned(expression::function(given)?)),
        Id::Until => model.until = Some(given.spanned(expression::function(given)?)),
        Id::Policy => model.policy = Some(expression::plain_value(given, &given.expr()?)?),
        Id::Budget => model.budget = Some(given.spanned(expression::budget(given)?)),
        Id::Idempotent => model.idempotent = Some(given.spanned(word::boolean(given)?)),
        Id::Nested => model.nested = Some(given.spanned(word::word(given, &word::NESTED)?)),
        Id::Cancel => model.cancel = Some(given.spanned(expression::cancel(given)?)),
        Id::CancelWaits => model.cancel_waits = Some(given.spanned(expression::cancel(given)?)),
        Id::OnRetry => model.on_retry = Some(given.spanned(expression::function(given)?)),
        Id::BeforeRetry => {
            let value = expression::before_retry(given, blocking)?;
            model.before_retry = Some(given.spanned(value));
        }
        Id::OnEnd => model.on_end = Some(given.spanned(expression::function(given)?)),
        // Each flag without a mistake counts; `blocking` does so with a value too.
        Id::Blocking => {}
        Id::Sensitive => model.sensitive = true,
        Id::Silent => model.silent = true,
        Id::Name => model.name = Some(given.spanned(word::name(given)?)),
        Id::Crate => model.root = Some(given.parse(Path::parse_mod_style)?),
        Id::Hedge if given.text().as_deref() == Some("policy") => model.hedge_of_policy = true,
        // Each other key is a duration.
        length => {
            let value = duration::length(given)?;
            model.lengths.push((length, given.spanned(value)));
        }
    }
    Ok(())
}

/// The elements of a list. If some are wrong, what is wrong with each of these.
fn all<T>(elements: impl Iterator<Item = Result<T, Mistake>>) -> Result<Vec<T>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let found =
        elements.filter_map(|element| element.map_err(|mistake| mistakes.push(mistake)).ok());
    let found = found.collect();
    if mistakes.is_empty() {
        Ok(found)
    } else {
        Err(mistakes)
    }
}
