//! The facts that the rules between keys use.

use std::time::Duration;

use proc_macro2::Ident;

use crate::errors::At;
use crate::given::Given;
use crate::keys::PolicyKey;
use crate::model::{Model, Spanned, Written};
use crate::rules::too_long;

/// What is certain of a model, whatever its policy and its expressions turn out to be.
pub(super) struct Facts<'a> {
    pub(super) model: &'a Model,
    /// The keys that were given, in the order of the source.
    pub(super) places: &'a [Place],
    /// The words of `backoff` and `jitter`, if they are literals.
    pub(super) backoff: Option<String>,
    pub(super) jitter: Option<String>,
}

/// Where a key and its value are.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(super) key: &'static str,
    pub(super) name: At,
    pub(super) value: At,
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

impl<'a> Facts<'a> {
    pub(super) fn of(model: &'a Model, places: &'a [Place]) -> Self {
        Self {
            model,
            places,
            backoff: word(model.backoff.as_ref()),
            jitter: word(model.jitter.as_ref()),
        }
    }

    /// The duration of a key, or its default, which a `policy` may change.
    pub(super) fn length(&self, key: PolicyKey) -> Option<Duration> {
        match self.model.length(key) {
            Some(length) => length.value.fixed().copied(),
            None => key.key().default.filter(|_| self.model.policy.is_none()),
        }
    }

    pub(super) fn place(&self, key: &str) -> Option<Place> {
        self.places.iter().find(|place| place.key == key).copied()
    }

    /// The last of these keys in the source. Without that key there is no mistake, so the error points at it.
    pub(super) fn last(&self, keys: &[&str]) -> Option<Place> {
        let places = keys.iter().filter_map(|&key| self.place(key));
        places.max_by_key(|place| place.name.position)
    }

    pub(super) fn no_delay(&self) -> bool {
        self.length(PolicyKey::Base) == Some(Duration::ZERO)
    }

    pub(super) fn is_decorrelated(&self) -> bool {
        self.jitter.as_deref() == Some("decorrelated")
    }

    /// Whether the jitter may make delays grow: it is decorrelated, or a policy or an expression may say so.
    pub(super) fn jitter_grows(&self) -> bool {
        match (&self.model.jitter, &self.jitter) {
            (Some(_), Some(word)) => word == "decorrelated",
            (Some(_), None) => true,
            (None, _) => self.model.policy.is_some(),
        }
    }

    /// Whether `max_delay` is no mistake beside a constant backoff. It may equal `base`, or allow a duration above the
    /// default. Another rule reports a `max_delay` below `base`.
    pub(super) fn max_delay_is_needed(&self) -> bool {
        let [base, max_delay] = [PolicyKey::Base, PolicyKey::MaxDelay].map(|key| self.length(key));
        let (Some(base), Some(max_delay)) = (base, max_delay) else {
            return self.place("base").is_some();
        };
        max_delay <= base || self.default_max_delay_is_too_short()
    }

    /// Whether a duration is above the default of `max_delay`.
    pub(super) fn default_max_delay_is_too_short(&self) -> bool {
        let mut above = too_long(false, |key| match key {
            PolicyKey::MaxDelay => key.key().default,
            key => self.length(key),
        });
        above.any(|found| found.long.0 == PolicyKey::MaxDelay)
    }
}

fn word(setting: Option<&Spanned<Written<Ident>>>) -> Option<String> {
    let variant = setting?.value.fixed()?;
    Some(variant.to_string().to_lowercase())
}
