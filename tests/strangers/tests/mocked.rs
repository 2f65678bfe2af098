//! `mockall`, with a retried method in a mocked trait, and behind a mocked method.

use std::io;

use mockall::automock;
use reattempt::retry;

#[automock]
trait Prices {
    async fn price(&self, item: u32) -> io::Result<u32>;
}

struct Shop;

impl Prices for Shop {
    #[retry(attempts = 3)]
    async fn price(&self, item: u32) -> io::Result<u32> {
        Ok(item)
    }
}

struct Stock;

impl Stock {
    #[retry(attempts = 3)]
    async fn retried(&self, item: u32) -> io::Result<u32> {
        Ok(item)
    }
}

#[automock]
impl Stock {
    async fn left(&self, item: u32) -> io::Result<u32> {
        self.retried(item).await
    }
}

#[tokio::test]
async fn a_retried_method_is_mocked_and_one_is_called_by_a_mocked_method() {
    let mut prices = MockPrices::new();
    prices.expect_price().returning(|item| Ok(item + 1));
    assert_eq!(prices.price(6).await.unwrap(), 7);
    assert_eq!(Shop.price(6).await.unwrap(), 6);

    let mut stock = MockStock::new();
    stock.expect_left().returning(|item| Ok(item + 1));
    assert_eq!(stock.left(6).await.unwrap(), 7);
    assert_eq!(Stock.left(6).await.unwrap(), 6);
}
