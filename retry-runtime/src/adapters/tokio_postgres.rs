//! `tokio-postgres`: verdicts by SQLSTATE, and of lost connections.
//!
//! After a conflict (40001, 40P01), Postgres rolls back the whole transaction, so the whole
//! **transaction** has to run again. Annotate the function that begins and commits it, not the function
//! that runs one statement.
//!
//! If a connection is lost during `COMMIT`, the transaction may have taken effect. So a lost connection is unknown, and
//! not retried. Before `COMMIT`, nothing took effect. [`TransactionError`] and [`commit`] tell the two cases apart.
//!
//! # Examples
//!
//! ```
//! # mod reattempt { pub use reattempt_runtime::adapters::tokio_postgres as tokio_postgres_0_7; }
//! use reattempt::tokio_postgres_0_7::{TransactionError, commit};
//! use tokio_postgres::{Client, IsolationLevel};
//!
//! // #[reattempt::retry]
//! async fn transfer(client: &mut Client, from: i32, to: i32) -> Result<(), TransactionError<tokio_postgres::Error>> {
//!     let serializable = client.build_transaction().isolation_level(IsolationLevel::Serializable);
//!     let transaction = serializable.start().await?;
//!     transaction.execute("UPDATE account SET balance = balance - 1 WHERE id = $1", &[&from]).await?;
//!     transaction.execute("UPDATE account SET balance = balance + 1 WHERE id = $1", &[&to]).await?;
//!     commit(transaction).await
//! }
//! ```

use ::tokio_postgres::error::{DbError, Severity, SqlState};
use ::tokio_postgres::{Error, Transaction};

pub use super::transaction::{CommitError, TransactionError};
use super::transaction::{LIMITS, commits};
use super::{io, known};
use crate::classify::{Lost, OfClient, Retryable, Verdict};
use crate::codes;

/// The verdict is that of [`codes::sqlstate`](codes::sqlstate()).
#[diagnostic::do_not_recommend]
impl Retryable for SqlState {
    fn verdict(&self) -> Verdict {
        codes::sqlstate(self.code())
    }
}

/// The verdict is that of [`codes::sqlstate_error`](codes::sqlstate_error()). A statement whose "cached plan must not change result
/// type" is refused in any language: a migration has changed its table, and it did not run.
#[diagnostic::do_not_recommend]
impl Retryable for DbError {
    fn verdict(&self) -> Verdict {
        // The code is "feature not supported". The name of the function in the server is in no human language.
        match self.routine() {
            Some("RevalidateCachedQuery") => Verdict::Refused,
            _ => codes::sqlstate_error(self.code().code(), self.message()),
        }
    }
}

impl OfClient for Error {}

/// An error of the server has the verdict of its [`DbError`]. A failed connection attempt is refused. A
/// lost connection is unknown, because a `COMMIT` may have been on its way. Any other error, such as a
/// value of the wrong type, is permanent.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        match self.as_db_error() {
            Some(error) => error.verdict(),
            None => of_client(self),
        }
    }
}

/// The verdict of an error that does not come from the server.
fn of_client(error: &Error) -> Verdict {
    if error.is_closed() {
        return Verdict::Unknown;
    }
    // The kind is private, but the message begins with the kind. Tests check these messages with a server. An
    // error with any other message is not retried.
    let message = error.to_string();
    if message.starts_with("error connecting to server")
        || message.starts_with("timeout waiting for server")
    {
        Verdict::Refused
    } else if message.starts_with("error performing TLS handshake") {
        if known::handshake(error).is_retryable() {
            Verdict::Refused
        } else {
            Verdict::Permanent
        }
    } else if message.starts_with("error communicating with the server") && !is_nonsense(error) {
        Verdict::Unknown
    } else {
        Verdict::Permanent
    }
}

/// Whether the server sent bytes that are not a message. The crate reports them as a failed read.
fn is_nonsense(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let failed = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    failed.is_some_and(|failed| io::of(failed) == Verdict::Permanent)
}

commits!(Error, Transaction<'_>);

impl Lost for Error {
    fn is_lost(&self) -> bool {
        let ended = self
            .as_db_error()
            .is_none_or(|error| match error.code().code() {
                // Odyssey hangs up after an error that is not fatal.
                "08006" => true,
                code => is_fatal(error) && !LIMITS.contains(&code),
            });
        ended && self.verdict() == Verdict::Unknown
    }
}

/// Whether the server ended the session.
fn is_fatal(error: &DbError) -> bool {
    matches!(error.severity(), "FATAL" | "PANIC")
        || matches!(
            error.parsed_severity(),
            Some(Severity::Fatal | Severity::Panic)
        )
}

#[cfg(test)]
mod tests;
