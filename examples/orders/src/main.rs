//! 200 orders while the payment service stops and the workers are killed: each is charged exactly once, and none is lost.
//!
//! ```text
//! cargo run -p orders
//! ```
//!
//! Read [`charge`] first, then [`shop`], [`queue`] and [`worker`]: these you would write too. The other files are the world
//! around them: the [`service`] that takes the payments, the [`customers`], the [`faults`] and the [`report`].

mod charge;
mod customers;
mod faults;
mod orders;
mod processes;
mod queue;
mod report;
mod service;
mod shop;
#[cfg(test)]
mod verdicts;
mod worker;

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use apalis_postgres::PostgresStorage;
use integrations::commit_proxy;
use integrations::postgres::Server;
use reqwest::{Client, StatusCode};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::time::{sleep, timeout};

use crate::charge::Payments;
use crate::faults::Commits;
use crate::orders::State;
use crate::processes::Workers;
use crate::report::Fate;
use crate::service::Service;

const ORDERS: usize = 200;

/// How long the whole may take. What has not ended then is lost.
const LONGEST: Duration = Duration::from_secs(200);

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => show().await,
        ["worker", name, database, payments] => {
            let payments = Payments {
                client: client(name)?,
                url: payments.to_owned(),
            };
            worker::run(name, connect(database, 3).await?, payments).await?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("usage: orders");
            Ok(ExitCode::from(2))
        }
    }
}

fn client(name: &str) -> reqwest::Result<Client> {
    Client::builder().no_proxy().user_agent(name).build()
}

fn url(postgres: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{postgres}/postgres")
}

/// All pools together stay below the 20 connections that the server allows.
async fn connect(database: &str, connections: u32) -> sqlx::Result<PgPool> {
    let pool = PgPoolOptions::new().max_connections(connections);
    pool.connect(database).await
}

async fn show() -> Result<ExitCode, Failure> {
    let server = Server::start().await?;
    let database = url(server.port());
    let pool = connect(&database, 1).await?;
    PostgresStorage::setup(&pool).await?;
    sqlx::query(orders::TABLE).execute(&pool).await?;

    let mut service = Service::start().await?;
    let payments = Payments {
        client: client("shop")?,
        url: service.url(),
    };
    let commits = Commits::default();
    let broken = commits.clone();
    let proxy = commit_proxy::start(server.port(), move || broken.next()).await;
    let shop = shop::start(connect(&url(proxy), 8).await?, payments).await?;
    let mut workers = Workers::start(database, service.url())?;

    println!("{ORDERS} customers place their orders");
    let customer = client("customer")?;
    let mut answers = vec![None; ORDERS];
    let everything = async {
        let ((), under_way, ended) = tokio::join!(
            customers::place_all(&customer, &shop, &mut answers),
            faults::happen(&mut service, &mut workers, &pool),
            all_end(&pool),
        );
        ended.and(under_way)
    };
    let under_way = timeout(LONGEST, everything).await;

    let fates = fates(&pool, &answers, &service).await?;
    println!("\n{}\n", report::table(&fates));
    let wrong = report::wrong(&fates);
    for fate in &wrong {
        println!("wrong: {fate:?}");
    }
    let Ok(under_way) = under_way else {
        println!("not all orders have ended after {LONGEST:?}");
        return Ok(ExitCode::FAILURE);
    };
    println!("The payment service was down for {:?}.", faults::OUTAGE);
    println!("2 workers were killed, with {} jobs under way.", under_way?);
    println!("{} commits of the shop were broken.", commits.broken());
    println!(
        "{} charges were asked for again, and answered by their key.",
        service.entries().repeats
    );
    Ok(if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns when all orders have ended.
async fn all_end(pool: &PgPool) -> Result<(), Failure> {
    loop {
        let ended = "SELECT count(*) FROM orders WHERE state <> 'queued'";
        let ended: i64 = sqlx::query_scalar(ended).fetch_one(pool).await?;
        if usize::try_from(ended)? == ORDERS {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Asks each side about each order.
async fn fates(
    pool: &PgPool,
    answers: &[Option<StatusCode>],
    service: &Service,
) -> Result<Vec<Fate>, Failure> {
    let rows = sqlx::query_as("SELECT number, state FROM orders");
    let rows: Vec<(i64, State)> = rows.fetch_all(pool).await?;
    let states: HashMap<i64, State> = rows.into_iter().collect();
    let charges = &service.entries().charges;
    let fates = (0..).zip(answers).map(|(number, answer)| Fate {
        order: customers::order(number),
        answer: *answer,
        state: states.get(&i64::from(number)).copied(),
        charges: charges.get(&number).copied().unwrap_or(0),
    });
    Ok(fates.collect())
}
