//! What a layer knows of the requests of one version of `reqwest`. The module around names that version `base`.

use std::future::ready;
use std::time::Duration;

use super::base::{Body, Request, Response};
use crate::adapters::http::headers::host_of;
use crate::adapters::http::{Redirected, StatusError};
use crate::tower::{Discarding, HttpRequests, OwnRequests, Requests};

/// The body is a stream, or can be copied.
impl Requests<Request, Response> for HttpRequests {
    type Failure = StatusError;

    fn copy(&self, request: Request) -> (Request, Option<Request>) {
        let copy = request.try_clone();
        (request, copy)
    }

    fn is_idempotent(&self, request: &Request) -> bool {
        self.may_repeat(request.method(), request.url().path(), request.headers())
    }

    // Not `async`: its future would hold the request, which need not be `Sync`.
    fn failure(
        &self,
        _: Option<&Request>,
        response: &mut Response,
    ) -> impl Future<Output = Option<StatusError>> + Send {
        let redirected = response.extensions().get::<Redirected>().is_some();
        let failed = self.failed(response.status(), response.headers());
        ready(failed.map(|failed| {
            if redirected {
                failed.behind_a_redirect()
            } else {
                failed
            }
        }))
    }

    fn host(&self, request: &Request) -> Option<String> {
        Some(host_of(request.url().authority()))
    }

    fn delay(&self, _: Option<&Request>, response: &Response) -> Option<Duration> {
        self.delay_after(response.status(), response.headers())
    }

    fn own(&self) -> &(dyn OwnRequests<Request, Response> + Sync) {
        self
    }
}

#[doc(hidden)]
impl OwnRequests<Request, Response> for HttpRequests {
    fn sends(&self, request: &mut Request) {
        self.describe(&request.method().clone(), request.headers_mut());
    }

    fn discard<'r>(&self, response: Response) -> Discarding<'r> {
        Box::pin(Self::read_rest(Body::from(response)))
    }
}
