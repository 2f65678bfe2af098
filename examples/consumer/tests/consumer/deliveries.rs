//! The work of a message that is delivered more than once.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use integrations::postgres::Server;
use reattempt::retry;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::watch;
use tokio::time::Instant;

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

/// What the page on messages says about work that may wait longer.
pub(crate) async fn work_that_extends_the_time_of_its_message_is_not_delivered_again() {
    /// When the broker delivers a message again.
    const REDELIVERY: Duration = Duration::from_secs(30);

    #[retry(
        attempts = 50,
        timeout = "5s",
        max_delay = "15s",
        max_retry_after = "15s",
        deadline = "10m",
        budget = "none",
        before_retry = async { extended.borrow_mut().push(Instant::now()) }
    )]
    async fn work(extended: &RefCell<Vec<Instant>>) -> io::Result<()> {
        tokio::time::sleep(Duration::from_secs(4)).await;
        Err(io::ErrorKind::ConnectionReset.into())
    }

    tokio::time::pause();
    let extended = RefCell::new(vec![Instant::now()]);
    work(&extended).await.unwrap_err();
    extended.borrow_mut().push(Instant::now());
    let times = extended.into_inner();
    assert!(times[times.len() - 1] - times[0] > 5 * REDELIVERY);
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] < REDELIVERY, "{pair:?}");
    }
}
