//! expect: `tokio_postgres::Error` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`

use reattempt::retry;
use tokio_postgres::{Client, Error};

#[retry(deadline = "5s", on_retry = |event| println!("{event:?}"))]
async fn order(client: &mut Client) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    transaction.execute("UPDATE stock SET left = left - 1", &[]).await?;
    transaction.commit().await
}

fn main() {}
