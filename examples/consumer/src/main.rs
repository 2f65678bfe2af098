//! 40 messages a second, whose work is in PostgreSQL: the database stops for a minute, one consumer is replaced, one is killed and
//! one stands still, and each message is booked exactly once.
//!
//! ```text
//! cargo run -p consumer        # or with another outage, in seconds: `cargo run -p consumer -- 6`
//! ```
//!
//! Read [`bookings`] and [`worker`]: these you would write too. The others start the processes, and let them fail.

mod bookings;
mod broker;
mod processes;
mod worker;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use async_nats::jetstream::Context;
use integrations::{nats, postgres};
use sqlx::postgres::PgPoolOptions;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::bookings::{Booking, TABLES};
use crate::processes::Workers;

/// The messages of a second.
const RATE: u32 = 40;

/// How long messages come before the outage, and how long the database is back before the last fault.
const CALM: Duration = Duration::from_secs(2);

/// How long a consumer stands still. Meanwhile the broker delivers its messages to others.
const STANDSTILL: Duration = Duration::from_secs(7);

/// How long the rest may take at the end. What is not booked then is lost.
const LONGEST: Duration = Duration::from_mins(1);

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => show(Duration::from_mins(1)).await,
        ["worker", broker, database] => {
            worker::run(broker, database).await?;
            Ok(ExitCode::SUCCESS)
        }
        [seconds] if seconds.parse::<u16>().is_ok() => {
            show(Duration::from_secs(seconds.parse()?)).await
        }
        _ => {
            eprintln!("usage: consumer [SECONDS]");
            Ok(ExitCode::from(2))
        }
    }
}

async fn show(outage: Duration) -> Result<ExitCode, Failure> {
    let mut server = postgres::Server::start().await?;
    let database = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let pool = PgPoolOptions::new().max_connections(1);
    let pool = pool.connect(&database).await?;
    sqlx::raw_sql(TABLES).execute(&pool).await?;
    let nats = nats::Server::start().await?;
    let broker = broker::connect(nats.url()).await?;
    broker::create(&broker).await?;
    let mut workers = Workers::start(nats.url(), &database)?;

    let messages = RATE * u32::try_from((CALM + outage + CALM + STANDSTILL).as_secs())?;
    println!("{messages} messages come, {RATE} a second");
    let (published, happened) = tokio::join!(
        publish(&broker, messages),
        happen(&mut server, &mut workers, &broker, outage),
    );
    let cents = published?;
    let unanswered = happened?;
    let ended = timeout(LONGEST, all_end(&broker)).await;
    workers.terminate().await?;

    let booked = "SELECT count(*), count(*) FILTER (WHERE deliveries > 1), sum(repeats)::bigint,
        (SELECT sum(cents)::bigint FROM accounts) FROM booked";
    let booked: (i64, i64, i64, i64) = sqlx::query_as(booked).fetch_one(&pool).await?;
    let (rows, given_back, repeats, sum) = booked;
    let dead = broker::count(&broker, broker::DEAD).await?;
    println!("\n{rows} messages are booked, {dead} is a dead letter.");
    println!("{given_back} were booked at a later delivery.");
    println!("{repeats} came again after they were booked.");
    println!("{unanswered} were not answered when their consumer was killed.");
    println!("{sum} cents of {cents} are in the accounts.");
    let complete = ended.is_ok() && rows == i64::from(messages) && sum == cents && dead == 1;
    println!(
        "{}",
        if complete {
            "None is lost, and none is booked twice."
        } else {
            "That is wrong."
        }
    );
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Publishes these messages, and one that is wrong. Returns the sum of their cents.
async fn publish(broker: &Context, messages: u32) -> Result<i64, Failure> {
    let wrong = broker.publish(broker::BOOK, "a wrong message".into());
    wrong.await?.await?;
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut sum = 0;
    for message in 0..messages {
        ticks.tick().await;
        let booking = Booking {
            message: message.into(),
            cents: i64::from(message) + 1,
        };
        sum += booking.cents;
        let published = broker.publish(broker::BOOK, booking.text().into());
        published.await?.await?;
    }
    Ok(sum)
}

/// Lets everything go wrong. Returns how many messages had no answer when a consumer was killed.
async fn happen(
    server: &mut postgres::Server,
    workers: &mut Workers,
    broker: &Context,
    outage: Duration,
) -> Result<usize, Failure> {
    sleep(CALM).await;
    println!("the database stops for {outage:?}");
    server.stop();
    sleep(outage / 3).await;
    println!("a consumer is replaced");
    workers.replace().await?;
    sleep(outage / 3).await;
    let unanswered = broker::consumer(broker)
        .await?
        .info()
        .await?
        .num_ack_pending;
    println!("a consumer is killed");
    workers.kill()?;
    sleep(outage / 3).await;
    server.restart().await;
    println!("the database is back");
    sleep(CALM).await;
    println!("a consumer stands still for {STANDSTILL:?}");
    workers.stand_still(STANDSTILL).await?;
    Ok(unanswered)
}

/// Returns when the broker has an answer for each message.
async fn all_end(broker: &Context) -> Result<(), Failure> {
    let mut consumer = broker::consumer(broker).await?;
    loop {
        let info = consumer.info().await?;
        if info.num_pending == 0 && info.num_ack_pending == 0 {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
}
