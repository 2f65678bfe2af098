//! `sqlx` with a SQLite file that is locked.

use std::time::Duration;

use reattempt::sqlx_0_9::{TransactionError, commit};
use reattempt::{Retryable as _, Verdict, retry};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Error, Executor as _};

use super::version::{ACCOUNTS, BALANCES, ONE, code, failure, run};

/// Two pools for one file. The first waits for locks, because an attempt of the second may read while it commits. The
/// second does not wait.
pub(crate) async fn two_connections(folder: &tempfile::TempDir) -> [SqlitePool; 2] {
    let options = SqliteConnectOptions::new()
        .filename(folder.path().join("database"))
        .create_if_missing(true)
        // The disk may be busy with other tests for longer than the attempts of the second pool take.
        .synchronous(SqliteSynchronous::Off);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_mins(1));
    let waits = options.clone().busy_timeout(Duration::from_mins(1));
    let one = pool.clone().connect_with(waits).await.unwrap();
    run(&one, &[ACCOUNTS, BALANCES]).await;
    let fails = options.busy_timeout(Duration::ZERO);
    [one, pool.connect_with(fails).await.unwrap()]
}

#[retry(attempts = "unlimited", base = "5ms", max_delay = "20ms")]
async fn add_one(pool: &SqlitePool) -> Result<(), TransactionError<Error>> {
    let mut transaction = pool.begin().await?;
    transaction.execute(ONE).await?;
    commit(transaction).await
}

pub(crate) async fn a_sqlite_file_that_is_locked_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = two_connections(&folder).await;
    let mut holder = one.begin().await.unwrap();
    holder.execute(ONE).await.unwrap();
    let busy = failure(&two, ONE).await;
    assert_eq!(code(&busy).as_deref(), Some("5"), "{busy:?}");
    assert_eq!(busy.verdict(), Verdict::Conflict, "{busy:?}");
    let (added, ()) = tokio::join!(add_one(&two), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        holder.commit().await.unwrap();
    });
    added.unwrap();

    let twice = failure(&two, BALANCES).await;
    assert_eq!(code(&twice).as_deref(), Some("1555"), "{twice:?}");
    assert_eq!(twice.verdict(), Verdict::Permanent, "{twice:?}");
    // The only connection of the pool is taken, so that nothing runs.
    let _taken = two.acquire().await.unwrap();
    tokio::time::pause();
    let none_free = failure(&two, ONE).await;
    assert!(matches!(none_free, Error::PoolTimedOut), "{none_free:?}");
    assert_eq!(none_free.verdict(), Verdict::Refused);
}
