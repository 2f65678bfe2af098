//! Layers around services whose requests or errors do not fit.

use std::convert::Infallible;

use http::{Request, Response};
use reattempt::Policy;
use reattempt::tower_0_5::RetryLayer;
use tower::{Layer as _, Service, service_fn};

mod router {
    //! expect: the body `Body` is not `Clone`, so a request with it cannot be sent again
    use super::*;

    fn call() {
        let router = axum::Router::<()>::new();
        drop(router.layer(RetryLayer::new(Policy::new().without_limits())));
    }
}

mod body {
    //! expect: the body `Stream` is not `Clone`, so a request with it cannot be sent again
    use super::*;

    struct Stream;

    fn call() {
        let client = service_fn(async |_: Request<Stream>| Ok::<_, Infallible>(Response::new(String::new())));
        let client = RetryLayer::new(Policy::new()).layer(client);
        drop(client.oneshot(Request::new(Stream)));
    }
}

mod error_without_verdict {
    //! expect: `ShopError`, the error of the service, has no verdict
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the shop failed")]
    struct ShopError;

    fn call() {
        let client = service_fn(async |_: Request<String>| Err::<Response<String>, _>(ShopError));
        let mut client = RetryLayer::new(Policy::new()).layer(client);
        drop(Service::call(&mut client, Request::new(String::new())));
    }
}

fn main() {}
