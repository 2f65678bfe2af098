//! expect: after a lost answer, the error of `.commit()` would run the transaction again
//! errors: 3

use reattempt::retry;
use reattempt::tokio_postgres::TransactionError;
use tokio_postgres::{Client, Error};

type DbResult<T> = Result<T, TransactionError<Error>>;

#[retry(attempts = 3)]
async fn alias(client: &mut Client) -> DbResult<()> {
    let transaction = client.transaction().await?;
    transaction.commit().await?;
    Ok(())
}

#[derive(Debug, reattempt::Retryable, thiserror::Error)]
enum Order {
    #[error(transparent)]
    #[retryable(forward)]
    Db(#[from] TransactionError<Error>),
}

impl From<Error> for Order {
    fn from(error: Error) -> Self {
        Self::Db(error.into())
    }
}

#[retry(attempts = 3)]
async fn own(client: &mut Client) -> Result<(), Order> {
    let transaction = client.transaction().await?;
    if let Err(error) = transaction.commit().await {
        return Err(error.into());
    }
    Ok(())
}

#[retry(attempts = 3, on = "Error")]
async fn any(client: &mut Client) -> anyhow::Result<()> {
    let transaction = client.transaction().await?;
    Ok(transaction.commit().await?)
}

fn main() {}
