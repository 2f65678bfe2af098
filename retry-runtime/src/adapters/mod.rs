//! Verdicts for the errors of other crates: one file each, one feature each.
//!
//! No table ends in an arm that allows a retry. An unlisted code is permanent if its class is known, else
//! unknown. Neither is retried without a rule in the attribute.

#![expect(clippy::match_same_arms, reason = "one arm for each reason")]
#![allow(
    clippy::duplicate_mod,
    reason = "the versions of a client share a source, so that they cannot differ"
)]

#[cfg(feature = "deadpool-0_13")]
pub mod deadpool;
#[cfg(feature = "h2-0_4")]
pub mod h2;
#[cfg(feature = "http-1")]
pub mod http;
#[cfg(feature = "hyper-1")]
pub mod hyper;
#[cfg(feature = "redis-1")]
pub mod redis;
#[cfg(feature = "reqwest-0_13")]
pub mod reqwest;
#[cfg(feature = "reqwest-0_12")]
pub mod reqwest_0_12;
#[cfg(feature = "reqwest-middleware-0_5")]
mod reqwest_middleware;
#[cfg(feature = "sea-orm-2")]
pub mod sea_orm;
#[cfg(feature = "sqlx-0_9")]
pub mod sqlx;
#[cfg(feature = "sqlx-0_8")]
pub mod sqlx_0_8;
#[cfg(feature = "tokio-postgres-0_7")]
pub mod tokio_postgres;
/// gRPC: the verdict of `tonic::Status` of 0.14, by its code and by the pushback of the server, and the metadata that
/// describes an attempt to the server.
#[cfg(feature = "tonic-0_14")]
pub mod tonic {
    use ::{prost, tonic as client, tonic_types as types};

    mod version;

    pub(super) use self::version::known;
    pub use self::version::set_attempt_metadata;
}
/// gRPC: the same for `tonic` 0.13.
#[cfg(feature = "tonic-0_13")]
#[path = "tonic"]
pub mod tonic_0_13 {
    use ::{prost_0_13 as prost, tonic_0_13 as client, tonic_types_0_13 as types};

    mod version;

    pub(super) use self::version::known;
    pub use self::version::set_attempt_metadata;
}
#[cfg(feature = "tower-0_5")]
mod tower;
#[cfg(feature = "_transactions")]
pub(crate) mod transaction;

mod io;
pub(crate) mod known;
mod std_errors;
mod stopped;
mod tls;
