//! `sea-orm` 2: the verdict of the `sqlx` error inside.
//!
//! If a connection is lost during `COMMIT`, the transaction may have taken effect, as with [`sqlx`](super::sqlx).
//! [`TransactionError`] and [`commit`] tell this case from a connection that is lost before `COMMIT`.
//!
//! # Examples
//!
//! ```
//! # mod reattempt { pub use reattempt_runtime::adapters::sea_orm as sea_orm_2; }
//! use reattempt::sea_orm_2::{TransactionError, commit};
//! use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbErr, TransactionTrait as _};
//!
//! // #[reattempt::retry]
//! async fn close_month(database: &DatabaseConnection) -> Result<(), TransactionError<DbErr>> {
//!     let transaction = database.begin().await?;
//!     transaction.execute_unprepared("UPDATE invoice SET state = 'closed'").await?;
//!     commit(transaction).await
//! }
//! ```

use ::sea_orm::error::{ConnAcquireErr, RuntimeErr};
use ::sea_orm::{DatabaseTransaction, DbErr};

pub use super::transaction::{CommitError, TransactionError};
use super::transaction::{Lost, commits};
use crate::classify::{OfClient, Retryable, Verdict};

impl OfClient for DbErr {}

/// An error of `sqlx` has [its own verdict](super::sqlx). If no connection of the pool is free, the verdict is refused.
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
            Self::MutexPoisonError => Verdict::Unknown,
            // The call or its values are at fault, or the record is not there.
            _ => Verdict::Permanent,
        }
    }
}

fn of_sqlx(error: &DbErr) -> Option<&::sqlx_core::Error> {
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
