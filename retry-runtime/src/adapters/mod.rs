//! Verdicts for the errors of other crates: one file each, one feature each.
//!
//! No table ends in an arm that allows a retry. An unlisted code is permanent if its class is known, else
//! unknown. Neither is retried without a rule in the attribute.

#![expect(clippy::match_same_arms, reason = "one arm for each reason")]

/// A request that a client is about to send.
pub trait ClientRequest {}

#[cfg(feature = "deadpool-0_13")]
pub mod deadpool;
#[cfg(feature = "h2-0_4")]
pub mod h2;
#[cfg(feature = "http-1")]
pub mod http;
#[cfg(feature = "hyper-1")]
pub mod hyper;
#[cfg(feature = "redis-1")]
pub mod redis;
#[cfg(feature = "reqwest-0_13")]
pub mod reqwest {
    //! The errors and responses of `reqwest` 0.13.

    use ::reqwest as client;

    mod version;

    pub use self::version::{RequestError, ResponseExt, is_retryable};
    pub(crate) use self::version::{depart, join, place_of, split};
}
#[cfg(feature = "reqwest-0_12")]
#[path = "reqwest"]
pub mod reqwest_0_12 {
    //! The errors and responses of `reqwest` 0.12.

    use ::reqwest_0_12 as client;

    mod version;

    pub use self::version::{RequestError, ResponseExt, is_retryable};
    pub(crate) use self::version::{depart, join, place_of, split};
}
#[cfg(feature = "sea-orm-2")]
#[path = ""]
pub mod sea_orm {
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

    use ::{sea_orm as client, sqlx_core as sqlx};

    #[path = "sea_orm.rs"]
    mod version;

    pub use self::version::commit;
    pub use super::transaction::{CommitError, TransactionError};

    fn is_poisoned(error: &client::DbErr) -> bool {
        matches!(error, client::DbErr::MutexPoisonError)
    }
}
#[cfg(feature = "sea-orm-1")]
#[path = ""]
pub mod sea_orm_1 {
    //! `sea-orm` 1: the same as `sea_orm_2` has for `sea-orm` 2.

    use ::{sea_orm_1 as client, sqlx_core_0_8 as sqlx};

    #[path = "sea_orm.rs"]
    mod version;

    pub use self::version::commit;
    pub use super::transaction::{CommitError, TransactionError};

    /// This version has no error of its own for it.
    const fn is_poisoned(_: &client::DbErr) -> bool {
        false
    }
}
#[cfg(feature = "sqlx-0_9")]
pub mod sqlx {
    //! `sqlx` 0.9: verdicts by SQLSTATE, by the codes of MySQL and SQLite, and of lost connections.
    //!
    //! After a conflict, the whole **transaction** has to run again. Annotate the function that begins and commits
    //! it, not the function that runs one statement.
    //!
    //! If a connection is lost during `COMMIT`, the transaction may have taken effect. So a lost connection is unknown, and
    //! not retried. Before `COMMIT`, nothing took effect. [`TransactionError`] and [`commit`] tell the two cases apart.
    //!
    //! # Examples
    //!
    //! With `sqlx::PgPool`, `MySqlPool` or `SqlitePool`:
    //!
    //! ```text
    //! use reattempt::sqlx_0_9::{TransactionError, commit};
    //!
    //! #[reattempt::retry]
    //! async fn transfer(pool: &PgPool, from: i32, to: i32) -> Result<(), TransactionError<sqlx::Error>> {
    //!     let mut transaction = pool.begin().await?;
    //!     sqlx::query("UPDATE account SET balance = balance - 1 WHERE id = $1")
    //!         .bind(from)
    //!         .execute(&mut *transaction)
    //!         .await?;
    //!     sqlx::query("UPDATE account SET balance = balance + 1 WHERE id = $1")
    //!         .bind(to)
    //!         .execute(&mut *transaction)
    //!         .await?;
    //!     commit(transaction).await
    //! }
    //! ```

    use ::sqlx_core as client;

    mod version;

    pub use self::version::commit;
    pub use super::transaction::{CommitError, TransactionError};
}
#[cfg(feature = "sqlx-0_8")]
#[path = "sqlx"]
pub mod sqlx_0_8 {
    //! `sqlx` 0.8: the same as `sqlx_0_9` has for 0.9.

    use ::sqlx_core_0_8 as client;

    mod version;

    pub use self::version::commit;
    pub use super::transaction::{CommitError, TransactionError};
}
#[cfg(feature = "tokio-postgres-0_7")]
pub mod tokio_postgres;
#[cfg(feature = "tonic-0_14")]
pub mod tonic {
    //! gRPC: the verdict of `tonic::Status` of 0.14, by its code and by the pushback of the server, and the metadata that
    //! describes an attempt to the server.

    use ::{prost, tonic as client, tonic_types as types};

    mod version;

    pub use self::version::set_attempt_metadata;
}
#[cfg(feature = "tonic-0_13")]
#[path = "tonic"]
pub mod tonic_0_13 {
    //! gRPC: the same as `tonic_0_14` has for `tonic` 0.14.

    use ::{prost_0_13 as prost, tonic_0_13 as client, tonic_types_0_13 as types};

    mod version;

    pub use self::version::set_attempt_metadata;
}
#[cfg(feature = "_transactions")]
pub(crate) mod transaction;

mod io;
pub(crate) mod known;
mod std_errors;
mod stopped;
mod tls;
