//! The services that this one calls: real servers on loopback, each behind a proxy that can make it fail.

mod health;
mod prices;
mod proxy;

use std::net::{Ipv4Addr, SocketAddr};

use integrations::{postgres, redis};
use tokio::sync::watch;
use tokio_postgres::Config;

pub(crate) use self::health::Health;
use crate::Failure;
use crate::orders::TABLES;

/// A server, as this service sees it.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// The name of the preset for it.
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    /// The address of its proxy.
    pub(crate) address: SocketAddr,
    pub(crate) health: watch::Sender<Health>,
}

impl Upstream {
    /// Puts a proxy in front of a server.
    fn behind_proxy(
        name: &'static str,
        kind: &'static str,
        server: SocketAddr,
        health: watch::Sender<Health>,
    ) -> Result<Self, Failure> {
        let address = proxy::start(server, health.subscribe())?;
        Ok(Self {
            name,
            kind,
            address,
            health,
        })
    }
}

/// All upstreams. The servers end when this is dropped.
#[derive(Debug)]
pub(crate) struct Upstreams {
    pub(crate) catalogue: Upstream,
    pub(crate) cart: Upstream,
    pub(crate) orders: Upstream,
    _redis: redis::Server,
    _postgres: postgres::Server,
}

impl Upstreams {
    /// Starts them in temporary folders, on free ports.
    ///
    /// # Errors
    ///
    /// - Postgres or Redis is not installed, or no port is free.
    pub(crate) async fn start() -> Result<Self, Failure> {
        let (redis, postgres) = tokio::join!(redis::Server::start(), postgres::Server::start());
        let (redis, postgres) = (redis?, postgres?);
        postgres.connect().await?.batch_execute(TABLES).await?;

        let health = watch::Sender::new(Health::Healthy);
        let prices = prices::start(health.subscribe()).await?;
        Ok(Self {
            catalogue: Upstream::behind_proxy("catalogue", "HTTP server", prices, health)?,
            cart: Upstream::behind_proxy(
                "cart",
                "Redis",
                on_loopback(redis.port()),
                watch::Sender::new(Health::Healthy),
            )?,
            orders: Upstream::behind_proxy(
                "orders",
                "PostgreSQL",
                on_loopback(postgres.port()),
                watch::Sender::new(Health::Healthy),
            )?,
            _redis: redis,
            _postgres: postgres,
        })
    }

    pub(crate) fn all(&self) -> [&Upstream; 3] {
        [&self.catalogue, &self.cart, &self.orders]
    }

    /// How to reach Postgres, through its proxy.
    pub(crate) fn database(&self) -> Config {
        let mut config = Config::new();
        config
            .host(self.orders.address.ip().to_string())
            .port(self.orders.address.port())
            .user("postgres")
            .dbname("postgres");
        config
    }
}

fn on_loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
