//! The work of a message, which runs once for each message, however often that is delivered.

use std::time::Duration;

use reattempt::retry;
use reattempt::sqlx_0_9::TransactionError;
use sqlx::PgPool;
use tokio::sync::watch;

pub(crate) const TABLES: &str = "
    CREATE TABLE accounts (account bigint PRIMARY KEY, cents bigint NOT NULL);
    INSERT INTO accounts SELECT account, 0 FROM generate_series(0, 9) account;
    CREATE TABLE booked (
        message bigint PRIMARY KEY, deliveries bigint NOT NULL, repeats bigint NOT NULL DEFAULT 0);";

/// How long the broker waits for an acknowledgement, before it delivers a message again. The default of JetStream is 30 s; with
/// 5 s, the messages of a killed consumer come back soon.
pub(crate) const ACK_WAIT: Duration = Duration::from_secs(5);

/// A call ends this long before the broker delivers its message again.
const MARGIN: Duration = Duration::from_secs(1);

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Booking {
    /// The publisher chose this number, so it is the same in each delivery.
    pub(crate) message: i64,
    pub(crate) cents: i64,
}

impl Booking {
    pub(crate) fn text(self) -> String {
        format!("{} {}", self.message, self.cents)
    }

    /// `None` if the message itself is wrong.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let (message, cents) = str::from_utf8(text).ok()?.split_once(' ')?;
        Some(Self {
            message: message.parse().ok()?,
            cents: cents.parse().ok()?,
        })
    }
}

/// The books of a process.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    pub(crate) pool: PgPool,
    pub(crate) shutdown: watch::Receiver<bool>,
}

impl Books {
    pub(crate) async fn shut_down(&self) {
        let _ = self.shutdown.clone().wait_for(|down| *down).await;
    }

    /// Books an amount, unless the message was booked before.
    ///
    /// The number of the message is the idempotency key, in the transaction that does the work. So it does not matter whether an
    /// earlier delivery took effect, or whether the answer to a `COMMIT` was lost.
    #[retry(
        attempts = 6,
        timeout = "1s",
        deadline = ACK_WAIT.saturating_sub(MARGIN),
        cancel_waits = self.shut_down()
    )]
    pub(crate) async fn book(
        &self,
        booking: Booking,
        delivery: i64,
    ) -> Result<(), TransactionError<sqlx::Error>> {
        let mut transaction = self.pool.begin().await?;
        let first = sqlx::query_scalar(
            "INSERT INTO booked (message, deliveries) VALUES ($1, $2)
             ON CONFLICT (message) DO UPDATE SET repeats = booked.repeats + 1
             RETURNING repeats = 0",
        );
        let first: bool = first
            .bind(booking.message)
            .bind(delivery)
            .fetch_one(&mut *transaction)
            .await?;
        if first {
            sqlx::query("UPDATE accounts SET cents = cents + $2 WHERE account = $1 % 10")
                .bind(booking.message)
                .bind(booking.cents)
                .execute(&mut *transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }
}
