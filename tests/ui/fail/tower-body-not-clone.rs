//! expect: the body `Stream` is not `Clone`, so a request with it cannot be sent again

use std::convert::Infallible;

use http::{Request, Response};
use reattempt::Policy;
use reattempt::tower_0_5::RetryLayer;
use tower::{Layer as _, service_fn};

struct Stream;

fn main() {
    let client = service_fn(async |_: Request<Stream>| Ok::<_, Infallible>(Response::new(String::new())));
    let client = RetryLayer::new(Policy::new()).layer(client);
    drop(client.oneshot(Request::new(Stream)));
}
