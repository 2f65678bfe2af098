//! Requests with all retries of a policy, by the loop of a layer.

use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tower::service_fn;

use super::super::client::{Body, Client, Request, RequestBuilder, Response};
use super::{RequestError, sees_redirects};
use crate::adapters::http::headers::host_of;
use crate::adapters::http::{Sends, StatusError, behind_a_redirect};
use crate::opaque::opaque;
use crate::policy::Policy;
use crate::stopped::Stopped;
use crate::tower::{
    Discarding, ErrorOfLayer, HttpRequests, OwnRequests, Redirected, Requests, RetryLayer,
};

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

/// Sends a request once, in an attempt of a layer. What came over a redirect is marked.
async fn hop(client: Client, request: Request, harmless: bool) -> Result<Response, RequestError> {
    let method = request.method().clone();
    let (answered, redirected) =
        sees_redirects(request, harmless, |request| client.execute(request)).await;
    match answered {
        Ok(mut response) if redirected => {
            response.extensions_mut().insert(Redirected);
            Ok(response)
        }
        Err(error) if redirected => Err(behind_a_redirect(method, error).into()),
        answered => Ok(answered?),
    }
}

/// A request that is sent with the retries of a policy, when it is awaited. [`RequestExt::send_with`](super::RequestExt::send_with)
/// makes it.
///
/// # Cancel safety
///
/// Dropping it drops its attempt, or ends the wait.
#[must_use = "a request is sent when it is awaited"]
pub struct SendWith<L = Policy> {
    unsent: Option<(RequestBuilder, RetryLayer<HttpRequests, L>)>,
    sent: Option<SentWith>,
}

type SentWith = Pin<Box<dyn Future<Output = Result<Response, RequestError>> + Send>>;

opaque! { SendWith [L] [L]; }

impl<L> SendWith<L> {
    pub(super) fn new(builder: RequestBuilder, layer: RetryLayer<HttpRequests, L>) -> Self {
        let (unsent, sent) = (Some((builder, layer)), None);
        Self { unsent, sent }
    }

    fn change(
        mut self,
        change: impl FnOnce(RetryLayer<HttpRequests, L>) -> RetryLayer<HttpRequests, L>,
    ) -> Self {
        let unsent = self.unsent.take();
        self.unsent = unsent.map(|(builder, layer)| (builder, change(layer)));
        self
    }

    /// Sets the name in events, metrics and reports. Default: the place of `send_with` in the source.
    pub fn with_name(self, name: &'static str) -> Self {
        self.change(|layer| layer.with_name(name))
    }

    /// Says whether the request may run twice. Default: its method and its headers say it.
    pub fn with_idempotent(self, idempotent: bool) -> Self {
        self.change(|layer| layer.with_idempotent(idempotent))
    }

    /// Sets what is known of the requests of a server, such as `HttpRequests::new().with_refusals(…)`. Default:
    /// [`HttpRequests::new`].
    pub fn with_requests(self, requests: HttpRequests) -> Self {
        self.change(|layer| layer.with_requests(requests))
    }
}

impl<L> Future for SendWith<L>
where
    L: ErrorOfLayer<RequestError, Error: Send> + 'static,
{
    type Output = Result<Response, RequestError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some((builder, layer)) = this.unsent.take() {
            this.sent = Some(Box::pin(send(builder, layer)));
        }
        let sent = this.sent.as_mut().expect("it is made in the first poll");
        sent.as_mut().poll(context)
    }
}

async fn send<L>(
    builder: RequestBuilder,
    layer: RetryLayer<HttpRequests, L>,
) -> Result<Response, RequestError>
where
    L: ErrorOfLayer<RequestError, Error: Send> + 'static,
{
    let (client, request) = builder.build_split();
    let request = request?;
    let (harmless, requests) = (
        layer.is_harmless::<_, Response>(&request),
        layer.requests.clone(),
    );
    let sends = Sends {
        method: request.method().clone(),
        harmless,
        refused: move |status, headers: &_| requests.is_refused(status, headers),
        checks: true,
    };
    let service = service_fn(|request| hop(client.clone(), request, harmless));
    let answered = async {
        let answered = RetryLayer::call::<L, _, _>(layer, request, service).await;
        let answered = answered.map_err(|error| {
            let error = error.into().downcast().map(|own| *own);
            let error = error.or_else(|error| Ok((*error.downcast::<Stopped>()?).into()));
            error.unwrap_or_else(|error: crate::lookup::BoxedError| {
                let status = error.downcast::<StatusError>();
                RequestError::from(*status.expect("a call ends with one of these"))
            })
        });
        let redirected = answered
            .as_ref()
            .is_ok_and(|response: &Response| response.extensions().get::<Redirected>().is_some());
        (answered, redirected)
    };
    sends.send(answered).await
}
