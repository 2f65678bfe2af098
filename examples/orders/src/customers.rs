//! The customers of the shop.

use std::time::Duration;

use futures::future::join_all;
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::retry;
use reqwest::{Client, StatusCode};
use tokio::time::sleep;

use crate::charge::Order;
use crate::service::BAD_CARD;

/// The time between two orders.
const PACE: Duration = Duration::from_millis(25);

/// Places an order for each answer, and writes the answer down.
pub(crate) async fn place_all(client: &Client, shop: &str, answers: &mut [Option<StatusCode>]) {
    let placing = answers.iter_mut().zip(0..).map(async |(answer, number)| {
        sleep(PACE * number).await;
        *answer = place(client, shop, &order(number)).await.ok();
    });
    join_all(placing).await;
}

/// Every tenth card is declined.
pub(crate) fn order(number: u32) -> Order {
    let card = if number % 10 == 9 {
        BAD_CARD
    } else {
        "4242424242424242"
    };
    Order {
        number,
        card: card.to_owned(),
        cents: 1999,
    }
}

/// All attempts of this call have one key, which stays with the order to its end.
///
/// There is no budget, because each customer is a program of its own.
#[retry(attempts = "unlimited", timeout = "8s", deadline = "180s")]
async fn place(client: &Client, shop: &str, order: &Order) -> Result<StatusCode, RequestError> {
    let answer = client
        .post(shop)
        .json(order)
        .attempt_headers()
        .send()
        .await?;
    if answer.status() == StatusCode::PAYMENT_REQUIRED {
        return Ok(answer.status());
    }
    Ok(answer.check()?.status())
}
