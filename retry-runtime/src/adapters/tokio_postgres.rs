//! `tokio-postgres`: by SQLSTATE, and by what a lost connection leaves open.
//!
//! After a conflict (40001, 40P01) Postgres has rolled the whole transaction back, so it is the
//! **transaction** that has to run again: annotate the function that begins and commits it, not the one
//! that runs a statement in it.
//!
//! When the connection is lost nobody says whether a `COMMIT` took effect, so that is unknown and not
//! retried. Before the `COMMIT` it is plain that nothing took effect; [`TransactionError`] and [`commit`]
//! tell the two apart.
//!
//! # Examples
//!
//! ```
//! # use retry_runtime::adapters as reattempt;
//! use reattempt::tokio_postgres::{TransactionError, commit};
//! use tokio_postgres::{Client, IsolationLevel};
//!
//! // #[reattempt::retry]
//! async fn transfer(client: &mut Client, from: i32, to: i32) -> Result<(), TransactionError> {
//!     let serializable = client.build_transaction().isolation_level(IsolationLevel::Serializable);
//!     let transaction = serializable.start().await?;
//!     transaction.execute("UPDATE account SET balance = balance - 1 WHERE id = $1", &[&from]).await?;
//!     transaction.execute("UPDATE account SET balance = balance + 1 WHERE id = $1", &[&to]).await?;
//!     commit(transaction).await
//! }
//! ```

use std::fmt;

use ::tokio_postgres::error::{DbError, SqlState};
use ::tokio_postgres::{Error, Transaction};

use super::known::Alone as _;
use crate::classify::{Retryable, Verdict};
use crate::stopped::Stopped;

/// By code, with Appendix A of the Postgres manual as the source.
#[diagnostic::do_not_recommend]
impl Retryable for SqlState {
    #[expect(clippy::match_same_arms, reason = "one arm for each reason")]
    fn verdict(&self) -> Verdict {
        let code = self.code();
        match code {
            // Serialization failure, deadlock, lock not available: rolled back, run it again.
            "40001" | "40P01" | "55P03" => Verdict::Transient,
            // Nobody knows whether it took effect.
            "40003" | "08007" => Verdict::Unknown,

            // The connection was never made, or is not there.
            "08001" | "08003" | "08004" => Verdict::Refused,
            // It was lost.
            "08000" | "08006" => Verdict::Transient,
            // The two sides do not understand each other; poolers use it for much else.
            "08P01" => Verdict::Unknown,

            // Too many connections: turned away at the door.
            "53300" => Verdict::Refused,
            // Memory, disk, or a configured limit, all used up by the load of the moment.
            "53000" | "53100" | "53200" | "53400" => Verdict::Throttled,

            // Starting up, shutting down or recovering: turned away at the door.
            "57P03" => Verdict::Refused,
            // The session was ended by an administrator, a crash, or for having been idle.
            "57P01" | "57P02" | "57P05" => Verdict::Transient,
            // Cancelled: by somebody, or by `statement_timeout`.
            "57014" => Verdict::Unknown,

            _ if is_permanent_class(code) => Verdict::Permanent,
            // System errors (58), internal errors (XX), and what is not registered.
            _ => Verdict::Unknown,
        }
    }
}

/// Classes in which every code is about what was asked: it is asked the same way again.
fn is_permanent_class(code: &str) -> bool {
    const PERMANENT: [&str; 35] = [
        "03", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "20", "21", "22", "23", "24", "25", "26",
        "27", "28", "2B", "2D", "2F", "34", "38", "39", "3B", "3D", "3F", "40", "42", "44", "54",
        "55", "57", "72", "F0", "P0",
    ];
    code.len() == 5
        && code
            .get(..2)
            .is_some_and(|class| PERMANENT.contains(&class))
}

#[diagnostic::do_not_recommend]
impl Retryable for DbError {
    fn verdict(&self) -> Verdict {
        self.code().verdict()
    }
}

/// What the server says is as its [`SqlState`]; a connection that could not be made is refused; one that
/// was lost is unknown, since a `COMMIT` may have been on its way. The rest, as a value of the wrong
/// type, is permanent.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        if let Some(code) = self.code() {
            return code.verdict();
        }
        match Failure::of(self) {
            Failure::Connect => Verdict::Refused,
            Failure::Lost => Verdict::Unknown,
            Failure::Other => Verdict::Permanent,
        }
    }
}

/// An error that is not the server's.
enum Failure {
    /// While connecting.
    Connect,
    /// Of a connection that was made.
    Lost,
    /// What was asked for, or how the server was spoken to.
    Other,
}

impl Failure {
    fn of(error: &Error) -> Self {
        if error.is_closed() {
            return Self::Lost;
        }
        // The crate keeps the kind to itself; its message begins with it. Read only here, and tested
        // against a server: a message that is not known is an error that is not retried.
        let message = error.to_string();
        if message.starts_with("error connecting to server")
            || message.starts_with("timeout waiting for server")
        {
            Self::Connect
        } else if message.starts_with("error communicating with the server") && !is_nonsense(error)
        {
            Self::Lost
        } else {
            Self::Other
        }
    }
}

/// Whether what came over the connection was no message: the crate has that as a failed read.
fn is_nonsense(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let failed = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    failed.is_some_and(|failed| failed.alone().verdict == Verdict::Permanent)
}

/// Commits, and says of an error that it was the commit's.
///
/// # Errors
///
/// - [`TransactionError::Commit`]: the server refused, or the connection was lost.
///
/// # Cancel safety
///
/// Dropped in the middle, the commit may or may not take effect. That is so for `COMMIT` itself; give
/// the attempt no `timeout` that could cut it, or make the transaction safe to run twice.
pub async fn commit(transaction: Transaction<'_>) -> Result<(), TransactionError> {
    transaction.commit().await.map_err(TransactionError::Commit)
}

/// Why a transaction failed, and whether that was before its `COMMIT`.
///
/// For functions that begin a transaction, run every statement in it, and end with [`commit`].
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError {
    /// Before `COMMIT` was sent: the database has rolled back, so even a lost connection is transient.
    Statement(Error),
    /// By `COMMIT`: a conflict is transient, a lost connection is unknown.
    Commit(Error),
    /// The retried call was stopped.
    Stopped(Stopped),
}

impl From<Error> for TransactionError {
    fn from(error: Error) -> Self {
        Self::Statement(error)
    }
}

impl From<Stopped> for TransactionError {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement(_) => f.write_str("the transaction failed and was rolled back"),
            Self::Commit(_) => f.write_str("the commit failed"),
            Self::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl std::error::Error for TransactionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Statement(error) | Self::Commit(error) => Some(error),
            Self::Stopped(stopped) => stopped.source(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl Retryable for TransactionError {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Statement(error) => match (error.code(), Failure::of(error)) {
                (None, Failure::Lost) => Verdict::Transient,
                _ => error.verdict(),
            },
            Self::Commit(error) => match error.code().map(SqlState::code) {
                // The server answered, and its answer is that nothing took effect.
                Some("40001" | "40P01" | "55P03") => Verdict::Transient,
                // The session was ended, perhaps after the commit; or there was no answer.
                _ if error.verdict() != Verdict::Permanent => Verdict::Unknown,
                // A deferred constraint, say.
                _ => Verdict::Permanent,
            },
            Self::Stopped(stopped) => stopped.verdict(),
        }
    }
}

#[cfg(test)]
mod tests;
