//! A load generator: customers of this service, in this process.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Client;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::shop::Checkout;

/// The most checkouts at the same time. Further checkouts are left out.
const AT_A_TIME: usize = 400;

/// Makes this many checkouts a second until it is dropped.
///
/// # Errors
///
/// - The client cannot be made.
pub(crate) async fn drive(service: SocketAddr, rate: u32) -> Result<Infallible, reqwest::Error> {
    let client = Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(10))
        .build()?;
    let url = format!("http://{service}/checkout");
    let mut customers = interval(Duration::from_secs(1) / rate);
    customers.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut checkouts = JoinSet::new();
    loop {
        customers.tick().await;
        while checkouts.try_join_next().is_some() {}
        if checkouts.len() < AT_A_TIME {
            let wanted = Checkout {
                customer: rand::random_range(0..1000),
                product: rand::random_range(0..100),
            };
            // The metrics count the result.
            checkouts.spawn(client.post(&url).json(&wanted).send());
        }
    }
}
