//! Functions that commit with the method of the transaction, and a proxy that loses each byte of the answer in turn: whatever the
//! client, no rule books a transfer twice.

use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use integrations::commit_proxy::{End, Passed, Wire, start_before};
use integrations::{mariadb, postgres};
use reattempt::retry;
use sqlx::{Executor as _, query_scalar};

/// Makes a transfer, with the URL of the server. Returns whether it returned `Ok`.
type Transfer = fn(String, i64) -> BoxFuture<'static, bool>;

/// For a version of `sqlx`, under a rule that repeats every error.
macro_rules! transfers_of_sqlx {
    ($($function:ident($sqlx:ident::$Connection:ident, $sql:expr) -> $E:ty;)*) => {$(
        async fn $function(url: String, id: i64) -> bool {
            use $sqlx::{Connection as _, Executor as _, $Connection};

            #[retry(base = "1ms", budget = "none", when = |_| true)]
            async fn transfer(url: &str, id: i64) -> Result<(), $E> {
                let mut connection = $Connection::connect(url).await?;
                let mut transaction = connection.begin().await?;
                let insert = format!("INSERT INTO transfer VALUES ({id})");
                transaction.execute($sql(&insert)).await?;
                transaction.commit().await?;
                Ok(())
            }
            transfer(&url, id).await.is_ok()
        }
    )*};
}

transfers_of_sqlx! {
    sqlx_postgres(sqlx::PgConnection, in_0_9) -> sqlx::Error;
    sqlx_postgres_any(sqlx::PgConnection, in_0_9) -> anyhow::Error;
    sqlx_mariadb(sqlx::MySqlConnection, in_0_9) -> sqlx::Error;
    sqlx_0_8_postgres(sqlx_0_8::PgConnection, in_0_8) -> sqlx_0_8::Error;
    sqlx_0_8_mariadb(sqlx_0_8::MySqlConnection, in_0_8) -> sqlx_0_8::Error;
}

fn in_0_9(insert: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(insert.to_owned())
}

fn in_0_8(insert: &str) -> &str {
    insert
}

async fn sea_orm_postgres(url: String, id: i64) -> bool {
    use sea_orm::{ConnectionTrait as _, Database, DbErr, TransactionTrait as _};

    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn transfer(url: &str, id: i64) -> Result<(), DbErr> {
        let connection = Database::connect(url).await?;
        let transaction = connection.begin().await?;
        let insert = format!("INSERT INTO transfer VALUES ({id})");
        transaction.execute_unprepared(&insert).await?;
        transaction.commit().await
    }
    transfer(&url, id).await.is_ok()
}

async fn deadpool(url: String, id: i64) -> bool {
    #[retry(base = "1ms", budget = "none", when = |_| true)]
    async fn transfer(pool: &deadpool_postgres::Pool, id: i64) -> anyhow::Result<()> {
        let mut client = pool.get().await?;
        let transaction = client.transaction().await?;
        let insert = format!("INSERT INTO transfer VALUES ({id})");
        transaction.batch_execute(&insert).await?;
        Ok(transaction.commit().await?)
    }
    let config = url.parse().unwrap();
    let manager = deadpool_postgres::Manager::new(config, tokio_postgres::NoTls);
    let pool = deadpool_postgres::Pool::builder(manager).build().unwrap();
    transfer(&pool, id).await.is_ok()
}

macro_rules! named {
    ($($function:ident),+) => {
        [$((stringify!($function), (|url, id| $function(url, id).boxed()) as Transfer)),+]
    };
}

/// Makes each transfer with each byte of the exchange lost, and asserts that it is booked once if the server got the `COMMIT`, and else
/// not at all: no one knows which, so it is not repeated in either case.
async fn search(
    wire: Wire,
    server: u16,
    url: impl Fn(u16) -> String,
    transfers: &[(&str, Transfer)],
    booked: impl AsyncFn(i64) -> i64,
) {
    let at_commit = Arc::new(Mutex::new(None));
    let asked = Arc::clone(&at_commit);
    let port = start_before(wire, server, move || asked.lock().unwrap().take()).await;
    let mut ids = 0_i64..;
    for (name, transfer) in transfers {
        for end in [End::Close, End::Reset] {
            for passed in 0..=wire.all() {
                let id = ids.next().unwrap();
                *at_commit.lock().unwrap() = Some((Passed(passed), end));
                let told = transfer(url(port), id).await;
                assert_eq!(*at_commit.lock().unwrap(), None, "{name} did not commit");
                let expected = i64::from(passed >= wire.request());
                let found = booked(id).await;
                assert_eq!(found, expected, "{name}: {passed} bytes passed, {end:?}");
                assert!(!told || found == 1, "{name} returned `Ok` for nothing");
            }
        }
    }
}

fn postgres_url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable")
}

pub(crate) async fn no_client_of_postgres_books_twice_wherever_the_answer_breaks() {
    let server = postgres::Server::start().await.unwrap();
    let admin = server.connect().await.unwrap();
    let table = "CREATE TABLE transfer (id bigint NOT NULL)";
    admin.batch_execute(table).await.unwrap();
    let booked = async |id: i64| -> i64 {
        let count = "SELECT count(*) FROM transfer WHERE id = $1";
        admin.query_one(count, &[&id]).await.unwrap().get(0)
    };
    let transfers = named![
        sqlx_postgres,
        sqlx_postgres_any,
        sqlx_0_8_postgres,
        sea_orm_postgres,
        deadpool
    ];
    search(
        Wire::POSTGRES,
        server.port(),
        postgres_url,
        &transfers,
        booked,
    )
    .await;
}

pub(crate) async fn no_client_of_mariadb_books_twice_wherever_the_answer_breaks() {
    let server = mariadb::Server::start().await.unwrap();
    let parts = server.url();
    let own = parts.split([':', '/']).find_map(|part| part.parse().ok());
    let own: u16 = own.expect("a port");
    let pool = sqlx::MySqlPool::connect(&server.url()).await.unwrap();
    pool.execute("CREATE TABLE transfer (id bigint NOT NULL)")
        .await
        .unwrap();
    let booked = async |id: i64| -> i64 {
        let count = query_scalar("SELECT count(*) FROM transfer WHERE id = ?");
        count.bind(id).fetch_one(&pool).await.unwrap()
    };
    let url = |port| format!("mysql://root@127.0.0.1:{port}/mysql?ssl-mode=DISABLED");
    let transfers = named![sqlx_mariadb, sqlx_0_8_mariadb];
    search(Wire::MARIADB, own, url, &transfers, booked).await;
}
