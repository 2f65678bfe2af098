//! The migrations of a program that starts, as the page on databases says, before a server that is not up yet.

use std::error::Error;
use std::pin::Pin;
use std::time::Duration;

use diesel::connection::Connection as _;
use diesel::pg::PgConnection;
use diesel::result::ConnectionError;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness as _, embed_migrations};
use integrations::postgres::Server;
use reattempt::retry;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};

type BoxError = Box<dyn Error + Send + Sync>;

mod embedded {
    refinery::embed_migrations!("tests/heavy/migrations/refinery");
}

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("tests/heavy/migrations/diesel");

/// Waits for the server.
#[retry(
    idempotent = true,
    attempts = "unlimited",
    deadline = "1m",
    max_delay = "5s"
)]
async fn connect(url: &str) -> Result<Client, reattempt::Error<tokio_postgres::Error>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn refinery(url: String) -> Result<(), BoxError> {
    let mut client = connect(&url).await?;
    embedded::migrations::runner()
        .run_async(&mut client)
        .await?;
    Ok(())
}

#[retry(
    blocking,
    on(ConnectionError),
    attempts = "unlimited",
    deadline = "1m",
    max_delay = "5s"
)]
fn establish(url: &str) -> Result<PgConnection, reattempt::Error<ConnectionError>> {
    Ok(PgConnection::establish(url)?)
}

async fn diesel(url: String) -> Result<(), BoxError> {
    spawn_blocking(move || {
        let mut connection = establish(&url)?;
        connection.run_pending_migrations(MIGRATIONS)?;
        Ok(())
    })
    .await?
}

type Migrate = fn(String) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

/// The tables that there are.
async fn tables(url: &str) -> Vec<String> {
    let client = connect(url).await.unwrap();
    let tables =
        "SELECT tablename::text FROM pg_tables WHERE tablename IN ('items', 'orders') ORDER BY 1";
    let rows = client.query(tables, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn migrations_wait_for_the_server_and_a_lost_connection_leaves_none_half_way() {
    let mut server = Server::start().await.unwrap();
    let crates: [(&str, Migrate); 2] = [
        ("refinery", |url| Box::pin(refinery(url))),
        ("diesel", |url| Box::pin(diesel(url))),
    ];
    for (name, migrate) in crates {
        let admin = server.connect().await.unwrap();
        admin
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .unwrap();
        drop(admin);
        // Its error does not tell a database that is missing from a server that is down.
        let missing = PgConnection::establish(&server.url().replace("postgres", "missing")).err();
        assert!(matches!(missing, Some(ConnectionError::BadConnection(_))));
        let url = server
            .url()
            .replace("dbname=postgres", &format!("dbname={name}"));
        server.stop();
        let down = PgConnection::establish(&url).err();
        assert!(matches!(down, Some(ConnectionError::BadConnection(_))));
        let migration = tokio::spawn(migrate(url.clone()));
        sleep(Duration::from_millis(500)).await;
        server.restart().await;
        // It is in its second migration.
        server.until(1, "wait_event = 'PgSleep'").await;
        server.stop();
        let lost = migration.await.unwrap();
        lost.unwrap_err();
        server.restart().await;
        assert_eq!(tables(&url).await, ["items"], "{name}");
        // Of two instances that start at once, one fails.
        let (one, other) = tokio::join!(migrate(url.clone()), migrate(url.clone()));
        assert!(one.is_ok() != other.is_ok(), "{name}: {one:?} {other:?}");
        assert_eq!(tables(&url).await, ["items", "orders"], "{name}");
    }
}
