//! `sea-orm` against SQLite: the verdicts are those of `sqlx`.

use std::time::Duration;

use reattempt::sea_orm::{TransactionError, commit};
use reattempt::{Retryable as _, Verdict, retry};
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DbErr, SqlxSqliteConnector, TransactionTrait as _,
};

const ONE: &str = "UPDATE account SET balance = balance + 1 WHERE id = 1";

#[retry(attempts = 50, base = "5ms", max_delay = "20ms")]
async fn add_one(database: &DatabaseConnection) -> Result<(), TransactionError<DbErr>> {
    let transaction = database.begin().await?;
    transaction.execute_unprepared(ONE).await?;
    commit(transaction).await
}

pub(crate) async fn a_locked_file_is_waited_for_and_a_statement_that_is_wrong_is_not_retried() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = super::sqlx::sqlite(&folder).await;
    let [one, two] = [one, two].map(SqlxSqliteConnector::from_sqlx_sqlite_pool);
    let holder = one.begin().await.unwrap();
    holder.execute_unprepared(ONE).await.unwrap();
    let busy = two.execute_unprepared(ONE).await.unwrap_err();
    assert_eq!(busy.verdict(), Verdict::Transient, "{busy:?}");
    let (added, ()) = tokio::join!(add_one(&two), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        holder.commit().await.unwrap();
    });
    added.unwrap();

    let twice = "INSERT INTO account VALUES (1, 100)";
    let twice = two.execute_unprepared(twice).await.unwrap_err();
    assert_eq!(twice.verdict(), Verdict::Permanent, "{twice:?}");
    let wrong = two.execute_unprepared("SELECT nonsense").await.unwrap_err();
    assert_eq!(wrong.verdict(), Verdict::Permanent, "{wrong:?}");
    let gone = DbErr::RecordNotFound("account".to_owned());
    assert_eq!(gone.verdict(), Verdict::Permanent);

    let _taken = two.begin().await.unwrap();
    tokio::time::pause();
    let none_free = two.begin().await.map(drop).unwrap_err();
    assert_eq!(none_free.verdict(), Verdict::Refused, "{none_free:?}");
}
