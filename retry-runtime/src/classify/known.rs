//! What an error says that is known only as a `dyn Error`: it is tried as each type with a verdict.

use std::error::Error;
use std::io;

use super::links::{Links, as_type};
use super::{Retryable as _, Said, Verdict};
use crate::Stopped;

/// What the causes of an error say, itself left out: the innermost that says something, which is
/// nearest to what happened.
///
/// No verdict that is asked for here looks into causes of its own, so a chain is walked once.
pub(crate) fn inside(error: &(dyn Error + 'static)) -> Option<Said> {
    if ends_all(error) {
        return Some(Said::new(Verdict::Permanent));
    }
    Links::of(error).skip(1).filter_map(of_link).last()
}

/// Whether a call within this one was stopped in a way that no other attempt of ours may undo.
pub(crate) fn ends_all(error: &(dyn Error + 'static)) -> bool {
    Links::of(error)
        .filter_map(as_type::<Stopped>)
        .any(|stopped| stopped.verdict() == Verdict::Permanent)
}

fn of_link(link: &(dyn Error + 'static)) -> Option<Said> {
    let said = of_std(link).or_else(|| of_adapters(link))?;
    (said.verdict != Verdict::Unknown).then_some(said)
}

fn of_std(link: &(dyn Error + 'static)) -> Option<Said> {
    if let Some(error) = as_type::<io::Error>(link) {
        return Some(Said::new(super::io::of_kind(error.kind())));
    }
    as_type::<tokio::time::error::Elapsed>(link)
        .map(Said::of)
        .or_else(|| as_type::<Stopped>(link).map(Said::of))
}

fn of_adapters(link: &(dyn Error + 'static)) -> Option<Said> {
    #[cfg(feature = "http")]
    if let Some(error) = as_type::<crate::adapters::http::StatusError>(link) {
        return Some(Said::of(error));
    }
    #[cfg(feature = "h2")]
    if let Some(error) = as_type::<h2::Error>(link) {
        return Some(Said::of(error));
    }
    #[cfg(feature = "hyper")]
    if let Some(error) = as_type::<hyper::Error>(link) {
        return Some(Said::new(crate::adapters::hyper::itself(error)));
    }
    #[cfg(feature = "hyper")]
    if let Some(error) = as_type::<hyper_util::client::legacy::Error>(link) {
        return Some(Said::new(crate::adapters::hyper::client_itself(error)));
    }
    #[cfg(feature = "redis")]
    if let Some(error) = as_type::<redis::RedisError>(link) {
        return Some(Said::of(error));
    }
    #[cfg(feature = "reqwest")]
    if let Some(error) = as_type::<reqwest::Error>(link) {
        return Some(Said::new(crate::adapters::reqwest::itself(error)));
    }
    #[cfg(feature = "tokio-postgres")]
    if let Some(error) = as_type::<tokio_postgres::Error>(link) {
        return Some(Said::of(error));
    }
    #[cfg(feature = "tonic")]
    if let Some(error) = as_type::<tonic::Status>(link) {
        return Some(crate::adapters::tonic::itself(error));
    }
    #[cfg(feature = "tonic")]
    if as_type::<tonic::TimeoutExpired>(link).is_some() {
        return Some(Said::new(Verdict::Transient));
    }
    let _: &dyn Error = link;
    None
}
