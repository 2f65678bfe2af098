//! A shop that shows its retries, with counters for Prometheus, and with a page to watch and change them.
//!
//! ```text
//! cargo run -p service -- --load 40
//! ```
//!
//! Open the address that it prints. The buttons make its upstreams slow, flaky or dead: an HTTP server, a Postgres and a
//! Redis that it starts on 127.0.0.1 in temporary folders. `docs/OPERATING.md` explains the page.

mod admin;
mod arguments;
mod cart;
mod catalogue;
mod load;
mod metrics;
mod orders;
mod presets;
mod same_origin;
mod shop;
mod status;
mod upstream;

use std::convert::Infallible;
use std::error::Error;
use std::future::{IntoFuture as _, pending};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::from_fn_with_state;
use clap::Parser as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::admin::Admin;
use crate::arguments::Arguments;
use crate::upstream::Upstreams;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    tell_events(arguments.events);
    let recorder = metrics::install()?;
    presets::load(&arguments.config)?;
    presets::collect_functions();

    let upstreams = Upstreams::start().await?;
    let shop = shop::router(&upstreams)?;
    let admin = Arc::new(Admin {
        upstreams,
        config: arguments.config.clone(),
        load: arguments.load,
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await?;
    let address = listener.local_addr()?;
    let router = shop
        .merge(admin::router(Arc::clone(&admin)))
        .merge(metrics::router(recorder))
        .layer(from_fn_with_state(address.port(), same_origin::check));
    println!("the page: http://{address}/   for Prometheus: http://{address}/metrics");

    // When this returns, the upstreams are dropped, which ends their servers.
    tokio::select! {
        served = axum::serve(listener, router).into_future() => Ok(served?),
        failed = customers(address, arguments.load) => match failed? {},
        () = time_is_over(arguments.limit()) => Ok(()),
        asked = asked_to_end() => Ok(asked?),
    }
}

/// Writes the events of the retries to standard error.
fn tell_events(level: LevelFilter) {
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(false);
    let of_retries = Targets::new().with_target("reattempt", level);
    tracing_subscriber::registry()
        .with(lines)
        .with(of_retries)
        .init();
}

async fn customers(service: SocketAddr, rate: Option<u32>) -> Result<Infallible, Failure> {
    match rate {
        Some(rate) => Ok(load::drive(service, rate).await?),
        None => pending().await,
    }
}

async fn time_is_over(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => pending().await,
    }
}

/// Waits for Control-C, or for the signal of `kill` and `timeout`.
async fn asked_to_end() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}
