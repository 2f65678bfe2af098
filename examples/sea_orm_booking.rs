//! Bookings with `sea-orm` 2, each one serializable transaction that is retried as a whole.
//!
//! ```text
//! cargo run -p integrations --example sea_orm_booking
//! ```
//!
//! In your `Cargo.toml`: `reattempt = { version = "0.1", features = ["sea-orm-2"] }`. Starts a Postgres of its own in a
//! temporary folder.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::try_join_all;
use integrations::postgres::Server;
use reattempt::sea_orm_2::{TransactionError, commit};
use reattempt::{RetryEvent, retry, with_report};
use sea_orm::{
    ActiveModelTrait as _, ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection,
    DbErr, EntityTrait as _, IsolationLevel, QueryOrder as _, Set, SqlErr, TransactionTrait as _,
};

mod booking {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "booking")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) guest: String,
        pub(crate) seat: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Gives a guest the next seat, which no other guest has.
///
/// If two transactions read the same last seat, Postgres rolls back one of them, perhaps at its `COMMIT`. This error is
/// a conflict (SQLSTATE 40001), so the whole function runs again, and reads what is there now.
#[retry(attempts = 10, base = "5ms", on_retry = tell)]
async fn book(database: &DatabaseConnection, guest: &str) -> Result<i32, TransactionError<DbErr>> {
    let serializable = Some(IsolationLevel::Serializable);
    let transaction = database.begin_with_config(serializable, None).await?;
    let by_seat = booking::Entity::find().order_by_desc(booking::Column::Seat);
    let last = by_seat.one(&transaction).await?;
    let seat = last.map_or(1, |booking| booking.seat + 1);
    let booking = booking::ActiveModel {
        guest: Set(guest.to_owned()),
        seat: Set(seat),
    };
    booking.insert(&transaction).await?;
    commit(transaction).await?;
    Ok(seat)
}

static RETRIES: AtomicU32 = AtomicU32::new(0);

fn tell(event: &RetryEvent<'_, TransactionError<DbErr>>) {
    RETRIES.fetch_add(1, Ordering::Relaxed);
    let cause = event.error().and_then(std::error::Error::source);
    let cause = cause.map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {cause} ({verdict}), again in {delay:.0?}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start().await?;
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let mut options = ConnectOptions::new(url);
    options.min_connections(4);
    let database = Database::connect(options).await?;
    database
        .execute_unprepared("CREATE TABLE booking (guest text PRIMARY KEY, seat int NOT NULL)")
        .await?;

    println!("Four guests at the same time, and again until two of them conflict:");
    let mut seats = Vec::new();
    while RETRIES.load(Ordering::Relaxed) == 0 {
        let guests = [1, 2, 3, 4].map(|number| format!("guest {}", seats.len() + number));
        let bookings = guests.iter().map(|guest| book(&database, guest));
        seats.extend(try_join_all(bookings).await?);
    }
    println!("  seats: {seats:?}");
    seats.sort_unstable();
    assert!(seats.iter().zip(1..).all(|(seat, next)| *seat == next));

    println!("A guest who has a seat already:");
    let (result, report) = with_report(book(&database, "guest 1")).await;
    let error = result.unwrap_err();
    let TransactionError::Statement(cause) = &error else {
        return Err(error.into());
    };
    println!("  not retried: {cause}");
    let violated = cause.sql_err();
    assert!(matches!(
        violated,
        Some(SqlErr::UniqueConstraintViolation(_))
    ));
    assert_eq!(report.map(|report| report.attempts()), Some(1));
    Ok(())
}
