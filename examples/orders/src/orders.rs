//! The orders of the shop, a row for each.

use reattempt::{Error, retry};
use sqlx::PgPool;

use crate::charge::Order;
use crate::queue;

/// The key is that of the customer's call, and the payment's too.
pub(crate) const TABLE: &str =
    "CREATE TABLE orders (key text PRIMARY KEY, number bigint NOT NULL, state text NOT NULL)";

/// What has become of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub(crate) enum State {
    Charged,
    /// The payment is wrong.
    Refused,
    /// A worker will charge it.
    Queued,
    /// The queue gave up. A person has to look.
    Buried,
}

/// Stores a new order, and its job if it needs one: both, or neither.
///
/// A transaction that was sent twice has the effect of one, because of the key. So even a connection that was lost in the
/// `COMMIT` is a reason to try again.
#[retry(
    attempts = 5,
    base = "20ms",
    timeout = "1s",
    deadline = "3s",
    idempotent = true
)]
pub(crate) async fn store(
    pool: &PgPool,
    key: &str,
    order: &Order,
    state: State,
) -> Result<(), Error<sqlx::Error>> {
    let mut transaction = pool.begin().await?;
    // A customer who asks again may charge an order that waits in the queue, or that the queue gave up.
    let insert = "INSERT INTO orders VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET state = excluded.state WHERE excluded.state = 'charged'";
    let insert = sqlx::query(insert)
        .bind(key)
        .bind(i64::from(order.number))
        .bind(state);
    let inserted = insert.execute(&mut *transaction).await?;
    // The row that was there first has its job.
    if inserted.rows_affected() == 1 && state == State::Queued {
        queue::push(&mut transaction, key, order).await?;
    }
    Ok(transaction.commit().await?)
}

/// Writes down how a queued order ended.
///
/// Of two workers with the same job, one may give up while the other charges. So what is charged stays so.
#[retry(attempts = 5, base = "20ms", timeout = "5s", idempotent = true)]
pub(crate) async fn end(pool: &PgPool, key: &str, state: State) -> Result<(), Error<sqlx::Error>> {
    sqlx::query("UPDATE orders SET state = $2 WHERE key = $1 AND state <> 'charged'")
        .bind(key)
        .bind(state)
        .execute(pool)
        .await?;
    Ok(())
}
