//! expect: with `hedge`, two attempts run at once, and both may commit this transaction
//! errors: 2

use reattempt::retry;
use tokio_postgres::{Client, Error};

async fn connect() -> Result<Client, Error> {
    unimplemented!()
}

#[retry(hedge = "20ms")]
async fn hedged() -> Result<(), Error> {
    let mut client = connect().await?;
    let transaction = client.transaction().await?;
    transaction.commit().await
}

#[retry(hedge = "20ms", idempotent = true)]
async fn harmless() -> Result<(), Error> {
    let mut client = connect().await?;
    let transaction = client.transaction().await?;
    transaction.commit().await
}

async fn hedged_closure() {
    let _ = reattempt::run!(hedge = "20ms", async || {
        connect().await?.transaction().await?.commit().await
    })
    .await;
}

fn main() {}
