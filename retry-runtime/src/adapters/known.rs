//! Finds the verdict of a `dyn Error`: tries each type that has a verdict.
//!
//! Some errors have the last word: neither the errors around one nor those inside it may allow another attempt. Only
//! `when` may.

use std::error::Error;
use std::io;

use crate::classify::{Links, Retryable, Said, Verdict, as_type};
use crate::stopped::{CutCommit, Stopped};

use super::tls;
#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
use super::transaction::{CommitError, TransactionError};

/// Returns the answer of the innermost source of `error` that has a verdict, or `None`.
///
/// The innermost source is the nearest to the cause. `error` itself is not asked. If an error in the chain has the
/// [last word](last_word), it answers. The sources of an error that knows more than they do are not searched.
pub(crate) fn inside(error: &(dyn Error + 'static)) -> Option<Said> {
    from(error, 1)
}

/// Returns the verdict of an error that failed a handshake of TLS, or `None` if the error does not say.
#[cfg(any(
    feature = "redis",
    feature = "sqlx",
    feature = "sqlx-0_8",
    feature = "tokio-postgres"
))]
pub(super) fn handshake(error: &(dyn Error + 'static)) -> Option<Verdict> {
    let cut = || Links::of(error).any(tls::is_cut);
    match inside(error) {
        Some(said) => Some(said.verdict),
        None => cut().then_some(Verdict::Transient),
    }
}

/// As [`inside`], but `error` itself is asked too.
#[cfg(feature = "tower")]
pub(crate) fn of_any(error: &(dyn Error + 'static)) -> Option<Said> {
    from(error, 0)
}

fn from(error: &(dyn Error + 'static), first: usize) -> Option<Said> {
    if let Some(verdict) = last_word(error) {
        return Some(Said::new(verdict));
    }
    let mut innermost = None;
    for link in Links::of(error).skip(first) {
        let ends = first_answer(ENDS, link);
        let said = ends.or_else(|| first_answer(KNOWN, link));
        innermost = said
            .filter(|said| said.verdict != Verdict::Unknown)
            .or(innermost);
        if ends.is_some() {
            return innermost.or(ends);
        }
    }
    innermost
}

/// Returns the verdict of the first error in the chain that has the last word: `error` itself, or a source.
pub(crate) fn last_word(error: &(dyn Error + 'static)) -> Option<Verdict> {
    Links::of(error).find_map(has_last_word)
}

/// Returns the verdict of the link if it has the last word. The chain around and behind it does not matter.
///
/// - A [`Stopped`] that is permanent: an outer call must not undo what stopped it. Its source has had its attempts.
/// - A `COMMIT` that may have taken effect: it failed without an answer, or a limit cut it. Its source, such as a lost
///   connection, does not know that.
pub(crate) fn has_last_word(link: &(dyn Error + 'static)) -> Option<Verdict> {
    LAST_WORDS.iter().find_map(|ask| ask(link))
}

const LAST_WORDS: &[fn(&(dyn Error + 'static)) -> Option<Verdict>] = &[
    stopped_for_good,
    cut_commit,
    #[cfg(feature = "sea-orm")]
    open_commit::<sea_orm::DbErr>,
    #[cfg(feature = "sqlx")]
    open_commit::<sqlx_core::Error>,
    #[cfg(feature = "sqlx-0_8")]
    open_commit::<sqlx_core_0_8::Error>,
    #[cfg(feature = "tokio-postgres")]
    open_commit::<tokio_postgres::Error>,
];

fn cut_commit(link: &(dyn Error + 'static)) -> Option<Verdict> {
    link.is::<CutCommit>().then_some(Verdict::Unknown)
}

fn stopped_for_good(link: &(dyn Error + 'static)) -> Option<Verdict> {
    let verdict = as_type::<Stopped>(link)?.verdict();
    (!verdict.is_retryable()).then_some(verdict)
}

#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
fn open_commit<E: Error + 'static>(link: &(dyn Error + 'static)) -> Option<Verdict>
where
    TransactionError<E>: Retryable,
    CommitError<E>: Retryable,
{
    let verdict = match as_type::<TransactionError<E>>(link) {
        // Before the `COMMIT`, nothing took effect. A statement may be unknown for other reasons.
        Some(TransactionError::Statement(_)) => return None,
        Some(error) => error.verdict(),
        None => as_type::<CommitError<E>>(link)?.verdict(),
    };
    (verdict == Verdict::Unknown).then_some(verdict)
}

/// An error whose verdict depends on its sources.
///
/// Its adapter calls [`inside`], which walks the chain of sources. `inside` asks each source through this trait and not
/// through [`Retryable`], so that a source does not walk the chain again.
pub(crate) trait Alone: Error + 'static {
    /// Returns the answer of the error without its sources.
    fn alone(&self) -> Said;
}

/// An error that may know more than its sources, as that its request was never sent.
#[cfg(feature = "hyper")]
pub(crate) trait Certain: Error + 'static {
    /// Returns its answer, or `None` if its sources know more.
    fn certain(&self) -> Option<Said>;
}

/// Asks the link, if it has one type.
type Ask = fn(&(dyn Error + 'static)) -> Option<Said>;

const KNOWN: &[Ask] = &[
    alone::<io::Error>,
    of::<tokio::time::error::Elapsed>,
    of::<Stopped>,
    #[cfg(all(feature = "deadpool", feature = "redis"))]
    of::<deadpool::managed::PoolError<redis::RedisError>>,
    #[cfg(all(feature = "deadpool", feature = "tokio-postgres"))]
    of::<deadpool::managed::PoolError<tokio_postgres::Error>>,
    #[cfg(feature = "http")]
    of::<super::http::StatusError>,
    #[cfg(feature = "h2")]
    of::<h2::Error>,
    #[cfg(feature = "hyper")]
    alone::<hyper::Error>,
    #[cfg(feature = "redis")]
    of::<redis::RedisError>,
    #[cfg(feature = "reqwest")]
    alone::<reqwest::Error>,
    #[cfg(feature = "reqwest-0_12")]
    alone::<reqwest_0_12::Error>,
    #[cfg(feature = "tonic")]
    alone::<tonic::Status>,
    #[cfg(feature = "tonic")]
    alone::<tonic::TimeoutExpired>,
    // Last, because it reads the text of an error of any type.
    tls::said,
];

/// Their answers end the search, as they know more than their sources. An error of a database is unknown on purpose: the
/// connection that it lost may have been in its `COMMIT`. A request was not sent if its connection could not be made.
const ENDS: &[Ask] = &[
    #[cfg(feature = "hyper")]
    certain::<hyper::Error>,
    #[cfg(all(
        feature = "hyper",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    certain::<hyper_util::client::legacy::Error>,
    #[cfg(all(
        feature = "tonic",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    certain::<tonic::ConnectError>,
    #[cfg(feature = "sea-orm")]
    of::<sea_orm::DbErr>,
    #[cfg(feature = "sea-orm")]
    of::<TransactionError<sea_orm::DbErr>>,
    #[cfg(feature = "sqlx")]
    of::<sqlx_core::Error>,
    #[cfg(feature = "sqlx")]
    of::<TransactionError<sqlx_core::Error>>,
    #[cfg(feature = "sqlx-0_8")]
    of::<sqlx_core_0_8::Error>,
    #[cfg(feature = "sqlx-0_8")]
    of::<TransactionError<sqlx_core_0_8::Error>>,
    #[cfg(feature = "tokio-postgres")]
    of::<tokio_postgres::Error>,
    #[cfg(feature = "tokio-postgres")]
    of::<TransactionError<tokio_postgres::Error>>,
];

fn first_answer(asks: &[Ask], link: &(dyn Error + 'static)) -> Option<Said> {
    asks.iter().find_map(|ask| ask(link))
}

fn of<A: Error + Retryable + 'static>(link: &(dyn Error + 'static)) -> Option<Said> {
    as_type::<A>(link).map(Said::of)
}

fn alone<A: Alone>(link: &(dyn Error + 'static)) -> Option<Said> {
    as_type::<A>(link).map(A::alone)
}

#[cfg(feature = "hyper")]
fn certain<A: Certain>(link: &(dyn Error + 'static)) -> Option<Said> {
    as_type::<A>(link).and_then(A::certain)
}
