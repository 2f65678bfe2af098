//! Clients and servers of HTTP and gRPC in this process, over loopback.

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
