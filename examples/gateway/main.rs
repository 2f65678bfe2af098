//! A gateway in front of two upstreams, of HTTP/1 and of HTTP/2, which are killed and come back.
//!
//! ```text
//! cargo run -p integrations --example gateway
//! ```
//!
//! Budgets by upstream, headers that a proxy removes, bodies that are kept up to 64 KiB and streamed above, the deadline of a
//! client, 503 if nothing ran, and else 504 or 502 by cause.

mod gateway;

use std::error::Error;

use gateway::{Upstream, gateway};
use http::Response;
use integrations::upstream::{self, Version};
use tokio::net::TcpListener;

const ANSWER: upstream::Answers = |call, _| {
    // Each third request finds the upstream busy.
    let status = if call % 3 == 2 { 503 } else { 200 };
    Response::builder()
        .status(status)
        .body("an offer".into())
        .unwrap()
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let shop = upstream::Upstream::start(Version::One, ANSWER);
    let stock = upstream::Upstream::start(Version::Two(100), ANSWER);
    let (at_shop, at_stock) = (shop.address, stock.address);
    let upstreams = vec![
        Upstream {
            prefix: "/shop",
            authority: at_shop.to_string().parse()?,
            http2: false,
        },
        Upstream {
            prefix: "/stock",
            authority: at_stock.to_string().parse()?,
            http2: true,
        },
    ];
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, gateway(upstreams)).await });

    let client = reqwest::Client::builder().no_proxy().build()?;
    let statuses = async |path: &str| {
        let mut statuses = Vec::new();
        for _ in 0..5 {
            let response = client.get(format!("{url}{path}")).send().await?;
            statuses.push(response.status().as_u16());
        }
        println!("  {path}: {statuses:?}");
        Ok::<_, reqwest::Error>(statuses)
    };
    println!("Both upstreams are busy from time to time:");
    assert_eq!(statuses("/shop/offer").await?, [200; 5]);
    assert_eq!(statuses("/stock/item").await?, [200; 5]);

    println!("The shop is killed:");
    shop.kill().await;
    assert_eq!(statuses("/shop/offer").await?, [503; 5]);
    assert_eq!(statuses("/stock/item").await?, [200; 5]);

    println!("It comes back, and the stock is killed:");
    let shop = upstream::Upstream::start_at(at_shop, Version::One, ANSWER);
    stock.kill().await;
    assert_eq!(statuses("/shop/offer").await?, [200; 5]);
    assert_eq!(statuses("/stock/item").await?, [503; 5]);

    println!("The stock comes back:");
    let stock = upstream::Upstream::start_at(at_stock, Version::Two(100), ANSWER);
    assert_eq!(statuses("/stock/item").await?, [200; 5]);
    println!("requests: {} and {}", shop.calls(), stock.calls());
    Ok(())
}
