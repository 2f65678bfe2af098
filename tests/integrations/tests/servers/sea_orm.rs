//! `sea-orm` 2 and 1 against PostgreSQL, and 2 with SQLite: a program can link one SQLite only. Its errors have the verdicts of
//! `sqlx`.

use std::time::Duration;

use reattempt::{Retryable as _, Verdict};
use sea_orm::{ConnectionTrait as _, DbErr, SqlxSqliteConnector, TransactionTrait as _};

use self::v2::version::add_one;
use crate::sqlx::version::ONE;

#[path = "sea_orm"]
pub(crate) mod v2 {
    use reattempt::sea_orm_2 as adapter;
    use sea_orm as client;

    pub(crate) mod version;
}

#[path = "sea_orm"]
pub(crate) mod v1 {
    use reattempt::sea_orm_1 as adapter;
    use sea_orm_1 as client;

    pub(crate) mod version;
}

pub(crate) async fn a_locked_file_is_waited_for_and_a_statement_that_is_wrong_is_not_retried() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = crate::sqlx::sqlite::two_connections(&folder).await;
    let [one, two] = [one, two].map(SqlxSqliteConnector::from_sqlx_sqlite_pool);
    let holder = one.begin().await.unwrap();
    holder.execute_unprepared(ONE).await.unwrap();
    let busy = two.execute_unprepared(ONE).await.unwrap_err();
    assert_eq!(busy.verdict(), Verdict::Conflict, "{busy:?}");
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
