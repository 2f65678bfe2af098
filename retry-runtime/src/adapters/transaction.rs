//! The error of a transaction: whether it failed before its `COMMIT`.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use super::known::{Database, Link, as_type};
use crate::classify::{Assessment, Lost, Retryable, Verdict};
use crate::context::{Frame, outer};
use crate::stopped::Stopped;

/// Why a transaction failed, and whether it failed before its `COMMIT`.
///
/// Use it in functions that begin a transaction, run all its statements, and commit it. `E` is the error type of the client:
/// `TransactionError<sqlx::Error>`.
///
/// **Where `#[retry]` cannot see it, end the transaction with the `commit` of this module, not with `transaction.commit()`**, whose
/// error would count as that of a statement: if the answer to the `COMMIT` is lost, a transaction that took effect would run again.
/// That is in the closure of [`Policy::run`](crate::Policy::run), and in a function that yours calls.
///
/// `Display` and `source()` are those of the error inside, as those of [`reattempt::Error`](crate::Error#text-and-source).
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError<E> {
    /// It failed before `COMMIT` was sent. The server rolls back, so even a lost connection is transient, and so is a session that
    /// PostgreSQL or its pooler ended for an unknown reason (FATAL or PANIC).
    Statement(E),
    /// It failed in `COMMIT`. A conflict stays one. A lost connection is unknown, and `on` does not find it.
    Commit(CommitError<E>),
    /// The call was stopped. A timeout or a deadline may have cut the `COMMIT`, so both are unknown, and end the search
    /// of `on`.
    Stopped(Stopped),
}

/// Why a `COMMIT` failed: the error of the client.
///
/// It is an error of its own, so that it is in the chain of sources even if your error type leaves out the
/// [`TransactionError`], as `#[error(transparent)]` does. While the `COMMIT` may have taken effect, `on` does not look for
/// errors in that chain. It will have no other field, so a pattern reaches the error of the client.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a pattern reaches the error of the client"
)]
pub struct CommitError<E>(pub E);

/// Codes of limits that end a session. The statements are most likely as slow again.
pub(super) const LIMITS: [&str; 1] = ["25P04"];

/// Gives a client its `commit`.
macro_rules! commits {
    ($Error:ty, $Transaction:ty $(, $DB:ident: $Database:path)?) => {
        /// Commits the transaction, and returns an error as [`TransactionError::Commit`].
        ///
        /// # Errors
        ///
        /// - [`TransactionError::Commit`]: the server refused the commit, or the connection was lost.
        ///
        /// # Cancel safety
        ///
        /// Not cancel safe: if the future is dropped, the commit may or may not take effect. If the `timeout` of an
        /// outer annotated function cuts the commit, that function does not retry. In a spawned task, only a future in
        /// [`propagate`](crate::propagate()) reports that to outer functions. The same holds if your body drops the future, as
        /// `tokio::time::timeout` and `try_join!` do.
        pub async fn commit$(<$DB: $Database>)?(
            transaction: $Transaction,
        ) -> Result<(), TransactionError<$Error>> {
            let committed = $crate::context::open_commit(transaction.commit()).await;
            committed.map_err(|error| TransactionError::Commit(CommitError(error)))
        }
    };
}
pub(super) use commits;

/// Of a lost answer to `.commit()`, it makes a [`TransactionError::Commit`]: `#[retry]` has seen that `COMMIT` begin.
#[diagnostic::do_not_recommend]
impl<E: Lost> From<E> for TransactionError<E> {
    fn from(error: E) -> Self {
        if error.is_in_doubt() && outer(Frame::has_open_commit) == Some(true) {
            Self::Commit(CommitError(error))
        } else {
            Self::Statement(error)
        }
    }
}

// Recommended, so that rustc reports the bound, with the message of `Lost`.
impl<E: Lost> Retryable for TransactionError<E> {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Statement(error) if error.is_lost() => Verdict::Transient,
            Self::Statement(error) => error.verdict(),
            Self::Commit(error) => error.verdict(),
            // A limit may have cut a commit that is not the adapter's.
            Self::Stopped(stopped) => match stopped.verdict() {
                Verdict::Transient => Verdict::Unknown,
                verdict => verdict,
            },
        }
    }

    /// Before the `COMMIT`, nothing took effect.
    fn may_have_run(&self) -> bool {
        match self {
            Self::Statement(_) => false,
            Self::Commit(error) => error.may_have_run(),
            Self::Stopped(stopped) => stopped.may_have_run(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E: Lost> Retryable for CommitError<E> {
    fn verdict(&self) -> Verdict {
        match self.0.verdict() {
            // The server rolled back: for another transaction, or for a deferred constraint.
            verdict @ (Verdict::Conflict | Verdict::Permanent) => verdict,
            // The session ended, perhaps after the commit, or the server did not answer.
            _ => Verdict::Unknown,
        }
    }

    fn may_have_run(&self) -> bool {
        self.0.is_in_doubt()
    }
}

impl<E: Lost> Database for PhantomData<E> {
    fn inside<'a>(&self, link: Link<'a>) -> Option<Link<'a>> {
        match as_type::<TransactionError<E>>(link) {
            Some(error) => Some(error.inside()),
            None => as_type::<CommitError<E>>(link).map(|error| &error.0 as _),
        }
    }

    fn open_commit(&self, link: Link<'_>) -> Option<Verdict> {
        let verdict = match as_type::<TransactionError<E>>(link) {
            // Before the `COMMIT`, nothing took effect. A statement may be unknown for other reasons.
            Some(TransactionError::Statement(_)) => return None,
            Some(error) => error.verdict(),
            None => as_type::<CommitError<E>>(link)?.verdict(),
        };
        (verdict == Verdict::Unknown).then_some(verdict)
    }

    fn is_lost(&self, link: Link<'_>) -> Option<bool> {
        let in_transaction = as_type::<TransactionError<E>>(link).map(|_| false);
        in_transaction.or_else(|| as_type::<E>(link).map(E::is_lost))
    }

    fn assessment(&self, link: Link<'_>) -> Option<Assessment> {
        let in_transaction = || as_type::<TransactionError<E>>(link).map(Assessment::of);
        as_type::<E>(link)
            .map(Assessment::of)
            .or_else(in_transaction)
    }
}

impl<E> From<Stopped> for TransactionError<E> {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl<E: Error + 'static> TransactionError<E> {
    /// Returns the error inside.
    pub(crate) fn inside(&self) -> &(dyn Error + 'static) {
        match self {
            Self::Statement(error) => error,
            Self::Commit(error) => error,
            Self::Stopped(stopped) => stopped,
        }
    }
}

impl<E: fmt::Display> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement(error) => error.fmt(f),
            Self::Commit(error) => write!(f, "the commit failed: {}", error.0),
            Self::Stopped(stopped) => stopped.fmt_as_source(f),
        }
    }
}

impl<E: Error + 'static> Error for TransactionError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Statement(error) => error.source(),
            // These have the last word, also behind an error that leaves out this one.
            Self::Commit(_) | Self::Stopped(_) => Some(self.inside()),
        }
    }
}

impl<E> fmt::Display for CommitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server did not confirm the commit")
    }
}

impl<E: Error + 'static> Error for CommitError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
mod tests;
