//! expect: the body `Body` is not `Clone`, so a request with it cannot be sent again

use axum::Router;
use reattempt::Policy;
use reattempt::tower_0_5::RetryLayer;

fn main() {
    let router: Router = Router::new();
    drop(router.layer(RetryLayer::new(Policy::new().without_limits())));
}
