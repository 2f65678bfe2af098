//! `sqlx` 0.8: verdicts by SQLSTATE, by the codes of MySQL and SQLite, and of lost connections.
//!
//! After a conflict, the whole **transaction** has to run again. Annotate the function that begins and commits
//! it, not the function that runs one statement.
//!
//! If a connection is lost during `COMMIT`, the transaction may have taken effect. So a lost connection is unknown, and
//! not retried. Before `COMMIT`, nothing took effect. [`TransactionError`] and [`commit`] tell the two cases apart.
//!
//! Version 0.9 has a module of its own, `sqlx_0_9`.
//!
//! # Examples
//!
//! With `sqlx::PgPool`, `MySqlPool` or `SqlitePool`:
//!
//! ```text
//! use reattempt::sqlx_0_8::{TransactionError, commit};
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

use ::sqlx_core_0_8 as client;

#[path = "sqlx/version.rs"]
mod version;

pub use self::version::commit;
pub use super::transaction::{CommitError, TransactionError};
