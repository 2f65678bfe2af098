//! Requests of gRPC.

#[cfg(feature = "tonic-0_14")]
#[path = "grpc"]
mod v0_14 {
    use ::tonic as client;

    mod version;
}
#[cfg(feature = "tonic-0_13")]
#[path = "grpc"]
mod v0_13 {
    use ::tonic_0_13 as client;

    mod version;
}

use std::sync::Arc;

use crate::getters::setters;
use crate::opaque::opaque;

/// Requests of gRPC, for the `Channel` of `tonic` 0.14 and 0.13: `RetryLayer::new(POLICY).with_requests(GrpcRequests::new())`.
///
/// The status in the head of a response decides, as tonic servers send it for a call without messages in its answer, and so do its
/// hints, such as `RetryInfo`. A status that comes after messages is the caller's. A request whose body is not complete at once is
/// a stream, and sent once.
///
/// A `grpc-timeout` on a request is its deadline. Each attempt that has a limit sends the time left in this header; of two
/// times, the shorter one. If the `Channel` ends an attempt by it, that is a timeout of the call.
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::tower as tower_0_5; }
/// use reattempt::Policy;
/// use reattempt::tower_0_5::{GrpcRequests, RetryLayer};
///
/// const POLICY: Policy = Policy::new().with_attempts(4);
///
/// // `HealthClient::new(retry.layer(channel))`
/// let reads = GrpcRequests::new().with_idempotent(|path| path.ends_with("/Check"));
/// let retry = RetryLayer::new(POLICY).with_requests(reads);
/// ```
#[derive(Clone, Default)]
pub struct GrpcRequests {
    idempotent: Option<Arc<OfPath>>,
}

type OfPath = dyn Fn(&str) -> bool + Send + Sync;

impl GrpcRequests {
    /// Retries only what provably did not run.
    #[must_use]
    pub const fn new() -> Self {
        Self { idempotent: None }
    }

    setters! {
        /// Sets which methods may run twice, by their path, such as `/grpc.health.v1.Health/Check`. Default: none.
        with_idempotent(Fn(&str) -> bool) => idempotent;
    }
}

opaque! { GrpcRequests [] []; }
