//! `mockall`, with a retried method in a mocked trait, and behind a mocked method.

use std::io;

use mockall::automock;
use reattempt::retry;

#[automock]
trait Prices {
    async fn price(&self, item: u32) -> io::Result<u32>;
}

pub struct Shop;

impl Prices for Shop {
    #[retry(attempts = 3)]
    async fn price(&self, item: u32) -> io::Result<u32> {
        Ok(item)
    }
}

pub struct Stock;

impl Stock {
    #[retry(attempts = 3)]
    async fn retried(&self, item: u32) -> io::Result<u32> {
        Ok(item)
    }
}

#[automock]
impl Stock {
    pub async fn left(&self, item: u32) -> io::Result<u32> {
        self.retried(item).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut prices = MockPrices::new();
    prices.expect_price().returning(|item| Ok(item + 1));
    assert_eq!(prices.price(6).await.unwrap(), 7);
    assert_eq!(Shop.price(6).await.unwrap(), 6);

    let mut stock = MockStock::new();
    stock.expect_left().returning(|item| Ok(item + 1));
    assert_eq!(stock.left(6).await.unwrap(), 7);
    assert_eq!(Stock.left(6).await.unwrap(), 6);
}
