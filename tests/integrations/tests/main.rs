//! Clients and servers of HTTP and gRPC in this process, over loopback.

#![allow(
    clippy::duplicate_mod,
    reason = "one source for each version of a client, so that they cannot differ"
)]

mod any_error;
mod classification;
mod conditional;
mod deadline_layer;
mod gateway_example;
mod headers;
mod hedging;
mod hyper;
mod inferred;
mod junk;
mod layer;
mod ledger;
mod own_commits;
mod recipes;
mod reqwest_retry;
mod sessions;
mod tonic;

#[path = ""]
mod reqwest_0_13 {
    use ::{reqwest as client, reqwest_middleware as chain};
    use reattempt::{reqwest_0_13 as adapter, reqwest_middleware_0_5 as middleware};

    mod requests;
    mod reqwest;
    mod reqwest_middleware;
}

#[path = ""]
mod reqwest_0_12 {
    use ::{reqwest_0_12 as client, reqwest_middleware_0_4 as chain};
    use reattempt::{reqwest_0_12 as adapter, reqwest_middleware_0_4 as middleware};

    mod requests;
    mod reqwest;
    mod reqwest_middleware;
}
