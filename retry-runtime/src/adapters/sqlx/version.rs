//! The adapter of one version of `sqlx`. The module around names the core of that version `client`.

use std::io::ErrorKind;

use super::client::database::Database;
use super::client::error::{DatabaseError, Error};
use super::client::transaction::Transaction;
use crate::adapters::known;
use crate::adapters::transaction::{CommitError, LIMITS, TransactionError, commits};
use crate::classify::{Lost, OfClient, Retryable, Verdict};
use crate::codes;

impl OfClient for Error {}

/// An error of the database has the verdict of its code: SQLSTATE, the number of MySQL, or the result code of
/// SQLite. If no connection of the pool is free, or the name or the Unix socket of the server is not found, the verdict is refused. A
/// lost connection is unknown, because a `COMMIT` may have been on its way. So is `ConnectionRefused`, which the pool waits out where
/// it connects: elsewhere, it may come from a connection that was open. Any other error, such as a value of the wrong type, is
/// permanent.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Database(error) => of_code(&**error),
            Self::Io(error) => match (error.kind(), error.verdict()) {
                // The server has not made its Unix socket yet.
                (ErrorKind::NotFound, _) => Verdict::Refused,
                // It may come from a connection that was open.
                (ErrorKind::ConnectionRefused, _) => Verdict::Unknown,
                // No name led to a server, its certificate is not valid yet, or the same address gives the same answer.
                (_, verdict @ (Verdict::Refused | Verdict::Permanent)) => verdict,
                _ => Verdict::Unknown,
            },
            // No connection was free, so nothing ran.
            Self::PoolTimedOut => Verdict::Refused,
            // The handshake of a connection failed, before anything ran.
            Self::Tls(_) => {
                if known::handshake(self).is_retryable() {
                    Verdict::Refused
                } else {
                    Verdict::Permanent
                }
            }
            // This program closed the pool.
            Self::PoolClosed => Verdict::Permanent,
            // The call, its statement or its values are at fault.
            Self::Configuration(_)
            | Self::InvalidArgument(_)
            | Self::RowNotFound
            | Self::TypeNotFound { .. }
            | Self::ColumnIndexOutOfBounds { .. }
            | Self::ColumnNotFound(_)
            | Self::ColumnDecode { .. }
            | Self::Encode(_)
            | Self::Decode(_)
            | Self::AnyDriverError(_)
            | Self::InvalidSavePointStatement
            | Self::BeginFailed => Verdict::Permanent,
            // The bytes are not a message, or a thread of SQLite panicked.
            // Migrations, and errors that the crate may add.
            _ => Verdict::Unknown,
        }
    }
}

/// The verdict of the code of an error. Each database has its own numbers.
///
/// The core of `sqlx` does not know the databases. A SQLSTATE has five characters. The codes of SQLite are decimal
/// numbers with fewer characters. The message of a MySQL error begins with the number, and with the SQLSTATE if there
/// is one. Tests check this with a server.
fn of_code(error: &dyn DatabaseError) -> Verdict {
    let code = error.code();
    let of_mysql = || mysql_number(error).map(|number| codes::mysql_error(number, error.message()));
    match code.as_deref() {
        // If MySQL refuses a connection before it knows the protocol of the client, it sends no SQLSTATE.
        None => of_mysql().unwrap_or(Verdict::Unknown),
        Some(code) if code.len() != 5 => code
            .parse()
            .map_or(Verdict::Unknown, |code: i32| codes::sqlite(code)),
        Some(code) => match of_mysql() {
            None | Some(Verdict::Unknown) => codes::sqlstate_error(code, error.message()),
            Some(verdict) => verdict,
        },
    }
}

fn mysql_number(error: &dyn DatabaseError) -> Option<i32> {
    let message = error.to_string();
    let state = error
        .code()
        .map(|code| format!("({code})"))
        .unwrap_or_default();
    let (number, _) = message.split_once(&format!("{state}: "))?;
    number.trim_end().parse().ok()
}

impl Lost for Error {
    fn is_lost(&self) -> bool {
        let ended = match self {
            Self::Io(_) => true,
            Self::Database(error) => {
                // Odyssey hangs up after an error that is not fatal. The numbers are those of proxies of MySQL that lost the server.
                is_fatal(&**error)
                    || error.code().as_deref() == Some("08006")
                    || matches!(mysql_number(&**error), Some(1927 | 2003 | 2006 | 2013))
            }
            _ => false,
        };
        ended && self.verdict() == Verdict::Unknown
    }
}

/// Whether PostgreSQL ended the session. Its type is in another crate, whose `Debug` begins with the severity. Tests check this
/// with a server.
fn is_fatal(error: &dyn DatabaseError) -> bool {
    let code = error.code();
    let text = format!("{error:?}");
    let limit = code.is_some_and(|code| LIMITS.contains(&&*code));
    let severity = text.strip_prefix("PgDatabaseError { severity: ");
    severity.is_some_and(|text| text.starts_with("Fatal,") || text.starts_with("Panic,")) && !limit
}

commits!(Error, Transaction<'_, DB>, DB: Database);

#[cfg(test)]
mod tests;
