//! Whether the error of a function can be that of a transaction. If so, the transaction must not be committed by its own method.
//!
//! ```text
//! Output: error.own_commit()     for each `.commit()` in the body
//! ```
//!
//! A transaction has the error of one client or of another, so the question needs a level for each. Any will do.
//! No macro writes them, because rustc would show it in the message.

#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
use super::Each;
#[cfg(feature = "sea-orm")]
use super::failed::LocalChain;
use super::failed::Named;
#[cfg(feature = "sqlx-0_8")]
use super::failed::SendChain;
#[cfg(feature = "sqlx")]
use super::failed::SyncChain;
#[cfg(feature = "tokio-postgres")]
use super::failed::SyncPointer;
#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
use crate::adapters::transaction::TransactionError;

/// The transactions of a function with the error `E` may be committed by their own method.
#[diagnostic::on_unimplemented(
    message = "after a lost answer, the error of `.commit()` would run the transaction again",
    label = "as `{E}`, it counts as that of a statement",
    note = "write `commit(transaction)`, with `use reattempt::sqlx::commit;` or that of `sqlx_0_8`, `sea_orm` or `tokio_postgres`",
    note = "for a savepoint, or what is no transaction, write `Transaction::commit(transaction)` with its own type"
)]
pub trait CommitsItself<E> {}

#[cfg(feature = "sqlx")]
impl<E: From<TransactionError<sqlx_core::Error>>> SyncChain<'_, E> {
    /// Refuses `.commit()`.
    #[rustfmt::skip]
    pub const fn own_commit(&self) where Each: CommitsItself<E> {}
}

#[cfg(feature = "sqlx-0_8")]
impl<E: From<TransactionError<sqlx_core_0_8::Error>>> SendChain<'_, E> {
    /// Refuses `.commit()`.
    #[rustfmt::skip]
    pub const fn own_commit(&self) where Each: CommitsItself<E> {}
}

#[cfg(feature = "sea-orm")]
impl<E: From<TransactionError<sea_orm::DbErr>>> LocalChain<'_, E> {
    /// Refuses `.commit()`.
    #[rustfmt::skip]
    pub const fn own_commit(&self) where Each: CommitsItself<E> {}
}

#[cfg(feature = "tokio-postgres")]
impl<E: From<TransactionError<tokio_postgres::Error>>> SyncPointer<'_, E> {
    /// Refuses `.commit()`.
    #[rustfmt::skip]
    pub const fn own_commit(&self) where Each: CommitsItself<E> {}
}

impl<E: ?Sized> Named<'_, E> {
    /// Allows `.commit()`.
    pub const fn own_commit(&self) {}
}
