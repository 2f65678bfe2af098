//! The queue of the program, in a database.

use std::time::Duration;

use apalis::prelude::TaskId;
use apalis_postgres::PostgresStorage;
use integrations::postgres::Server;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use crate::charge::Order;
use crate::orders::{self, State};
use crate::queue;

async fn start() -> (Server, PgPool) {
    let server = Server::start().await.unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let pool = PgPoolOptions::new()
        .acquire_timeout(Duration::from_secs(10))
        .max_connections(4)
        .connect(&url)
        .await
        .unwrap();
    PostgresStorage::setup(&pool).await.unwrap();
    (server, pool)
}

fn order() -> Order {
    Order {
        number: 1,
        card: "4242424242424242".to_owned(),
        cents: 1999,
    }
}

pub(crate) async fn a_job_is_stored_with_its_transaction() {
    let (_server, pool) = start().await;
    let jobs = async || -> i64 {
        let jobs = sqlx::query_scalar("SELECT count(*) FROM apalis.jobs");
        jobs.fetch_one(&pool).await.unwrap()
    };
    let mut transaction = pool.begin().await.unwrap();
    let pushed = queue::push(&mut transaction, "key", &order()).await;
    pushed.unwrap();
    transaction.rollback().await.unwrap();
    assert_eq!(jobs().await, 0);

    let mut transaction = pool.begin().await.unwrap();
    let pushed = queue::push(&mut transaction, "key", &order()).await;
    pushed.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(jobs().await, 1);
}

pub(crate) async fn an_order_that_is_asked_for_again_has_one_job_and_is_charged_if_that_succeeds() {
    let (_server, pool) = start().await;
    sqlx::query(orders::TABLE).execute(&pool).await.unwrap();
    let seen = async || -> (State, i64) {
        let seen = sqlx::query_as("SELECT state, (SELECT count(*) FROM apalis.jobs) FROM orders");
        seen.fetch_one(&pool).await.unwrap()
    };
    let store = async |state| {
        orders::store(&pool, "key", &order(), state).await.unwrap();
    };
    store(State::Queued).await;
    store(State::Queued).await;
    assert_eq!(seen().await, (State::Queued, 1));
    orders::end(&pool, "key", State::Buried).await.unwrap();
    store(State::Queued).await;
    assert_eq!(seen().await, (State::Buried, 1));
    store(State::Charged).await;
    store(State::Refused).await;
    assert_eq!(seen().await, (State::Charged, 1));
}

pub(crate) async fn a_job_is_tried_for_about_a_day_and_then_given_up() {
    /// The seconds that an hour takes in the example.
    const HOUR: f64 = 1.2;
    /// Each delay is drawn at random.
    const DRAWN: u32 = 20;
    let (_server, pool) = start().await;
    let mut connection = pool.acquire().await.unwrap();
    let pushed = queue::push(&mut connection, "key", &order()).await;
    pushed.unwrap();
    let id = sqlx::query_scalar("SELECT id FROM apalis.jobs");
    let id: String = id.fetch_one(&pool).await.unwrap();
    let id: TaskId = id.parse().unwrap();

    let mut hours = 0.0;
    for tries in 1..30 {
        for _ in 0..DRAWN {
            assert!(queue::postpone(&pool, &id, tries).await.unwrap(), "{tries}");
            let left = "SELECT extract(epoch FROM run_at - now())::float8 FROM apalis.jobs";
            let left: f64 = sqlx::query_scalar(left).fetch_one(&pool).await.unwrap();
            assert!(left <= 2.0 * HOUR, "{left} s after {tries}");
            hours += left / HOUR / f64::from(DRAWN);
        }
    }
    assert!((20.0..28.0).contains(&hours), "{hours} hours");
    assert!(!queue::postpone(&pool, &id, 30).await.unwrap());
}
