//! Transactions that a call may commit twice.

use reattempt::retry;
use tokio_postgres::{Client, Error};

async fn connect() -> Result<Client, Error> {
    unimplemented!()
}

mod own {
    //! expect: if the answer to this `.commit()` is lost, the attempt does not know it, and would run the transaction again
    //! errors: 2
    use super::*;

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
}

mod hedged {
    //! expect: with `hedge`, two attempts run at once, and both may commit this transaction
    //! errors: 2
    use super::*;

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
}

fn main() {}
