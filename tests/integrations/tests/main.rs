//! Clients and servers of HTTP and gRPC in this process, over loopback.

#![allow(
    clippy::duplicate_mod,
    reason = "one source for each version of a client, so that they cannot differ"
)]

mod any_error;
mod conditional;
mod deadline_layer;
mod gateway_example;
mod headers;
mod hedging;
mod hyper;
mod junk;
mod layer;
mod ledger;
mod own_commits;
mod reqwest;
mod reqwest_middleware;
mod reqwest_retry;
mod tonic;
