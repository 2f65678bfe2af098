//! Carts and visits, in Redis.

use reattempt::{Error, retry};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands as _, Client, RedisError, RedisResult};

use crate::presets::CART;

/// A connection that is made anew after it was lost.
///
/// The manager's own retries are off: two loops around one command multiply.
pub(crate) fn connect(url: &str) -> RedisResult<ConnectionManager> {
    let config = ConnectionManagerConfig::new().set_number_of_retries(0);
    ConnectionManager::new_lazy_with_config(Client::open(url)?, config)
}

/// Puts a product into a cart. Put twice it is there once, so every failure may be retried.
#[retry(policy = &CART)]
pub(crate) async fn add(
    redis: &ConnectionManager,
    customer: u32,
    product: u32,
) -> Result<(), Error<RedisError>> {
    let cart = format!("cart:{customer}");
    Ok(redis.clone().sadd(cart, product).await?)
}

/// Counts a visit. Counted twice it is wrong, so only what provably never ran is retried.
#[retry(policy = &CART, idempotent = false)]
pub(crate) async fn count_visit(redis: &ConnectionManager) -> Result<u64, Error<RedisError>> {
    Ok(redis.clone().incr("visits", 1).await?)
}
