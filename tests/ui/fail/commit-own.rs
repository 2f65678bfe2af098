//! expect: if the answer to this `.commit()` is lost, the attempt does not know it, and would run the transaction again
//! errors: 2

use reattempt::retry;
use tokio_postgres::{Client, Error};

async fn connect() -> Result<Client, Error> {
    unimplemented!()
}

#[retry(attempts = 3, on = "Error")]
async fn in_a_task() -> anyhow::Result<()> {
    let mut client = connect().await?;
    let task = tokio::spawn(async move {
        let transaction = client.transaction().await?;
        transaction.commit().await
    });
    Ok(task.await??)
}

async fn in_a_task_of_a_closure() {
    let _ = reattempt::run!(attempts = 3, when = |_| true, async || {
        let mut client = connect().await?;
        let task = tokio::spawn(async move { client.transaction().await?.commit().await });
        task.await.expect("no panic")
    })
    .await;
}

fn main() {}
