//! Carts and visits, in Redis.

use reattempt::{Error, retry};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands as _, Client, RedisError, RedisResult};

use crate::presets::CART;

/// A connection that reconnects by itself.
///
/// The manager's own retries are off, because retries of two loops multiply.
pub(crate) fn connect(url: &str) -> RedisResult<ConnectionManager> {
    let config = ConnectionManagerConfig::new().set_number_of_retries(0);
    ConnectionManager::new_lazy_with_config(Client::open(url)?, config)
}

/// Puts a product into a cart. It may run twice, because the result is the same.
#[retry(policy = CART)]
pub(crate) async fn add(
    redis: &ConnectionManager,
    customer: u32,
    product: u32,
) -> Result<(), Error<RedisError>> {
    let cart = format!("cart:{customer}");
    Ok(redis.clone().sadd(cart, product).await?)
}

/// Counts a visit. It must not run twice, so it is retried only if it certainly never ran.
#[retry(policy = CART, idempotent = false)]
pub(crate) async fn count_visit(redis: &ConnectionManager) -> Result<u64, Error<RedisError>> {
    Ok(redis.clone().incr("visits", 1).await?)
}
