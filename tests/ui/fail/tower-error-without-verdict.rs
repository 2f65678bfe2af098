//! expect: `ShopError`, the error of the service, has no verdict

use http::{Request, Response};
use reattempt::Policy;
use reattempt::tower_0_5::RetryLayer;
use tower::{Layer as _, Service, service_fn};

#[derive(Debug, thiserror::Error)]
#[error("the shop failed")]
struct ShopError;

fn main() {
    let client = service_fn(async |_: Request<String>| Err::<Response<String>, _>(ShopError));
    let mut client = RetryLayer::new(Policy::new()).layer(client);
    drop(Service::call(&mut client, Request::new(String::new())));
}
