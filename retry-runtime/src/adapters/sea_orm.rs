//! The adapter of one version of `sea-orm`. The module around names that version `client`, and the core of its `sqlx` `sqlx`.

use super::client::error::{ConnAcquireErr, RuntimeErr};
use super::client::{DatabaseTransaction, DbErr};
use super::{is_poisoned, sqlx};
use crate::adapters::transaction::{CommitError, TransactionError, commits};
use crate::classify::{Lost, OfClient, Retryable, Verdict};

impl OfClient for DbErr {}

/// An error of `sqlx` has its own verdict. If no connection of the pool is free, the verdict is refused.
/// An error that holds only a text is unknown. Any other error, such as a record that is not there, is permanent.
#[diagnostic::do_not_recommend]
impl Retryable for DbErr {
    fn verdict(&self) -> Verdict {
        if let Some(error) = of_sqlx(self) {
            return error.verdict();
        }
        match self {
            // No connection was free, so nothing ran.
            Self::ConnectionAcquire(ConnAcquireErr::Timeout) => Verdict::Refused,
            // This program closed the pool.
            Self::ConnectionAcquire(ConnAcquireErr::ConnectionClosed) => Verdict::Permanent,
            // The error holds only a text.
            Self::Conn(_) | Self::Exec(_) | Self::Query(_) => Verdict::Unknown,
            Self::Custom(_) | Self::Migration(_) => Verdict::Unknown,
            // A thread panicked.
            error if is_poisoned(error) => Verdict::Unknown,
            // The call or its values are at fault, or the record is not there.
            _ => Verdict::Permanent,
        }
    }
}

fn of_sqlx(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => Some(error),
        _ => None,
    }
}

commits!(DbErr, DatabaseTransaction);

impl Lost for DbErr {
    fn is_lost(&self) -> bool {
        of_sqlx(self).is_some_and(Lost::is_lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_fails_with_its_connection_has_the_verdict_of_its_error() {
        let missing = DbErr::RecordNotFound("account".to_owned());
        let error = TransactionError::Statement(missing);
        assert_eq!(error.verdict(), Verdict::Permanent);
    }
}
