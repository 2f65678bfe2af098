//! The work of a message that is delivered more than once.

use integrations::postgres::Server;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::watch;

use crate::bookings::{Booking, Books, TABLES};

pub(crate) async fn a_message_that_is_delivered_twice_is_booked_once() {
    let server = Server::start().await.unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let pool = PgPoolOptions::new().connect(&url).await.unwrap();
    sqlx::raw_sql(TABLES).execute(&pool).await.unwrap();
    let (_stop, shutdown) = watch::channel(false);
    let books = Books { pool, shutdown };
    let booking = Booking {
        message: 7,
        cents: 100,
    };
    for delivery in [1, 2] {
        books.book(booking, delivery).await.unwrap();
    }
    let found =
        "SELECT sum(cents)::bigint, (SELECT sum(repeats)::bigint FROM booked) FROM accounts";
    let found: (i64, i64) = sqlx::query_as(found).fetch_one(&books.pool).await.unwrap();
    assert_eq!(found, (100, 1));
}

pub(crate) async fn a_wrong_message_is_recognised() {
    let booking = Booking {
        message: 7,
        cents: -100,
    };
    assert_eq!(Booking::read(booking.text().as_bytes()), Some(booking));
    for wrong in ["", "7", "7 x", "x 7", "7 100 2"] {
        assert_eq!(Booking::read(wrong.as_bytes()), None, "{wrong}");
    }
}
