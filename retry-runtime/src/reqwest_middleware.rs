//! `reqwest-middleware` 0.5: retries for all requests of a client.
//!
//! Put [`Retry`] into the [`ClientBuilder`](::reqwest_middleware::ClientBuilder), and each request of the client is a
//! call. It uses `reqwest` 0.13, whose module is [`reqwest`](crate::adapters::reqwest).
//!
//! # Examples
//!
//! ```
//! # use retry_runtime as reattempt;
//! use std::time::Duration;
//!
//! use reattempt::reqwest_middleware::Retry;
//! use reattempt::{Budget, Policy};
//! use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
//!
//! const POLICY: Policy = Policy::new().with_attempts(4).with_timeout(Duration::from_secs(2));
//! static PAYMENTS: Budget = Budget::new();
//!
//! fn client() -> reqwest::Result<ClientWithMiddleware> {
//!     let retry = Retry::new(POLICY).with_name("payments").with_budget(&PAYMENTS);
//!     // `reqwest` retries too.
//!     let client = reqwest::Client::builder().retry(reqwest::retry::never()).build()?;
//!     Ok(ClientBuilder::new(client).with(retry).build())
//! }
//! # client().unwrap();
//! ```

use std::borrow::Borrow;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::Extensions;
use ::reqwest::{Request, Response, Url};
use ::reqwest_middleware::{Error, Middleware, Next};
use async_trait::async_trait;

use crate::adapters::http::StatusError;
use crate::adapters::http::headers::{is_idempotent, note_key, set_headers};
use crate::budget::{Budget, Budgets};
use crate::classify::Retryable;
use crate::client_settings::ClientSettings;
use crate::opaque::opaque;
use crate::policy::Policy;
use crate::site::{BudgetOf, PolicyOf};

/// A middleware that makes each request of a client a call, with the retries of a policy.
///
/// Limits, backoff, budget, nested calls, events and reports are those of an annotated function. All clients that are
/// made at one place in the source share a name (that place, unless [`with_name`](Self::with_name) sets another), and a default
/// budget for each host.
///
/// # What is retried
///
/// - A response whose status has a [retryable verdict](crate::codes::http_status), such as 503. `Retry-After` is a lower
///   bound of the wait, up to `max_retry_after`. Any other response is a success of the call, such as 404.
/// - A 409 to a request with a key, after an attempt that may still run: it has the key.
/// - An error of `reqwest`, or of a middleware behind this one, whose [verdict](Retryable) allows it.
/// - A POST, a PATCH, or a write with a condition only if nothing ran, such as when no connection could be made. The headers
///   `If-Match`, `If-None-Match` and `If-Unmodified-Since` are conditions: after a success whose answer was lost, a retry
///   would return 412. With the header `Idempotency-Key`, these requests are retried as any other. The key must be
///   in the request when this middleware gets it.
/// - A body that is a stream is sent once, because it cannot be sent again. The call has one attempt.
///
/// The time until the head of the response counts, and not that of its body. To retry a body that breaks off, annotate
/// the function that reads it. Retries of the two add: they do not [multiply](crate::Nested).
///
/// # What the caller gets
///
/// | the last attempt | the caller gets |
/// |---|---|
/// | had a response | that response, whatever its status |
/// | had an error | that error, unchanged |
/// | was cut by a timeout or a deadline | [`Error::Middleware`] with a [`Stopped`](crate::Stopped) inside |
///
/// An `on_retry` hook and other rules need a function: annotate that, and leave the middleware out.
///
/// # Cancel safety
///
/// Dropping the future of a request drops its attempt, or ends the wait.
pub struct Retry {
    settings: ClientSettings,
    budgets: Option<Box<dyn Borrow<Budgets<String>> + Send + Sync>>,
    delay_after: Option<Box<DelayOfResponse>>,
    sends_headers: bool,
}

type DelayOfResponse = dyn Fn(&Response) -> Option<Duration> + Send + Sync;

impl Retry {
    /// Retries with a [`Policy`], or with a `&'static` [`Preset`](crate::Preset), which each request reads
    /// again.
    #[must_use]
    #[track_caller]
    pub fn new(policy: impl PolicyOf + Send + Sync + 'static) -> Self {
        Self {
            settings: ClientSettings::new(policy),
            budgets: None,
            delay_after: None,
            sends_headers: false,
        }
    }

    /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`Retry::new`].
    #[must_use]
    pub fn with_name(mut self, name: &'static str) -> Self {
        self.settings.name = Some(name);
        self
    }

    /// Sets one budget that bounds the retries to all hosts: a `&'static` [`Budget`], or one in an `Arc`. Default: that
    /// of the policy. If the policy names none, [one for each host](Self::with_budgets), and none if the attempts are unlimited.
    #[must_use]
    pub fn with_budget(mut self, budget: impl BudgetOf + Send + Sync + 'static) -> Self {
        self.settings.budget = Some(Arc::new(budget));
        self
    }

    /// Sets the budgets that bound the retries, one for each host: a `&'static` [`Budgets`], or one in an `Arc`. The key is the host
    /// of the request, with its port if that is not the one of the scheme, such as `api.example.org` or `10.0.0.7:8080`. So a host
    /// that is down takes no retries from the others. Default: budgets with the numbers of [`Budget::new`], for
    /// each place in the source that calls [`Retry::new`].
    #[must_use]
    pub fn with_budgets(
        mut self,
        budgets: impl Borrow<Budgets<String>> + Send + Sync + 'static,
    ) -> Self {
        self.budgets = Some(Box::new(budgets));
        self
    }

    /// The budget of the request's host, unless one is set for all hosts.
    fn budget_of(&self, policy: &Policy, url: &Url) -> Option<Arc<Budget>> {
        static HOSTS: Budgets<(&'static Location<'static>, String)> = Budgets::new(Budget::new());
        let host = || {
            let host = url.host_str().unwrap_or_default();
            url.port()
                .map_or(host.to_owned(), |port| format!("{host}:{port}"))
        };
        match &self.budgets {
            Some(budgets) => Some((**budgets).borrow().of(&host())),
            None if self.settings.budget.is_none() && policy.has_default_budget() => {
                Some(HOSTS.of(&(self.settings.place, host())))
            }
            None => None,
        }
    }

    /// Waits exactly as long as `delay` says after a response that is retried, without jitter, if it returns a duration. Use it
    /// for headers such as `RateLimit-Reset`. For `None`, the wait is that without it. One above `max_retry_after`, or one that
    /// does not fit the deadline, ends the call.
    #[must_use]
    pub fn with_retry_after(
        mut self,
        delay: impl Fn(&Response) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.delay_after = Some(Box::new(delay));
        self
    }

    /// Tells the server about each attempt: sets the headers of
    /// [`set_attempt_headers`](crate::adapters::http::set_attempt_headers), and so passes the deadline on.
    /// The key that it sets makes no request idempotent: only you know whether the server reads it. Default: no headers.
    ///
    /// # Panics
    ///
    /// - The request panics if the operating system gives no randomness for the key.
    #[must_use]
    pub fn with_attempt_headers(mut self) -> Self {
        self.sends_headers = true;
        self
    }

    /// Says whether a request may run twice, as [`Run::with_idempotent`](crate::Run::with_idempotent) does. Default: a POST or a
    /// PATCH without the header `Idempotency-Key` may not, and of the others nothing is said.
    #[must_use]
    pub fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.settings.idempotent = Some(idempotent);
        self
    }

    /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`. Of the
    /// URL in the text of an error, they otherwise show scheme, host and path. Default: false.
    #[must_use]
    pub fn with_sensitive(mut self, sensitive: bool) -> Self {
        self.settings.sensitive = sensitive;
        self
    }

    /// Sets whether requests write no event, as [`Policy::with_silent`](crate::Policy::with_silent) does. Default: that of the
    /// policy.
    #[must_use]
    pub fn with_silent(mut self, silent: bool) -> Self {
        self.settings.silent = silent;
        self
    }
}

#[async_trait]
impl Middleware for Retry {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response, Error> {
        let policy = self.settings.policy(request.try_clone().is_some());
        let of_host = self.budget_of(&policy, request.url());
        let idempotent = is_idempotent(request.method(), request.headers());
        let mut request = Some(request);
        // Each attempt starts from the extensions of the request. The outer layers see those of the last attempt.
        let before = extensions.clone();
        let after = Mutex::new(extensions);
        // A response is dropped when the next attempt begins, and its connection with it.
        let refused = Mutex::new(None);
        let attempt = || {
            let copy = request.as_ref().and_then(Request::try_clone);
            let sent = copy.or_else(|| request.take());
            let (next, mut extensions) = (next.clone(), before.clone());
            let (after, refused) = (&after, &refused);
            async move {
                lock(refused).take();
                let mut sent = sent.expect("a stream has one attempt");
                if self.sends_headers {
                    set_headers(&sent.method().clone(), sent.headers_mut());
                }
                note_key(sent.headers());
                let answered = next.run(sent, &mut extensions).await;
                **lock(after) = extensions;
                let response = answered?;
                match StatusError::from_parts(response.status(), response.headers()) {
                    Some(error) if self.settings.is_failure(error.verdict()) => {
                        *lock(refused) = Some(response);
                        Err(Error::middleware(error))
                    }
                    _ => Ok(response),
                }
            }
        };
        let mut run = self.settings.run(policy, idempotent, attempt);
        if let Some(budget) = &of_host {
            run = run.with_budget(budget);
        }
        let run = run.retry_after(|_| {
            let delay = self.delay_after.as_ref()?;
            lock(&refused).as_ref().and_then(delay)
        });
        // If the last attempt had a response, the error is its status.
        let ended = run.unboxed().await;
        ended.or_else(|error| lock(&refused).take().ok_or(error))
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

opaque! { Retry [] []; }

#[cfg(test)]
mod tests {
    use ::reqwest_middleware::ClientBuilder;
    use tokio::time::Instant;

    use super::*;
    use crate::Policy;

    /// A server that stays busy, and says in a header of its own when to come back. It records when it is asked.
    #[derive(Default)]
    struct Busy(Mutex<Vec<Instant>>);

    #[async_trait]
    impl Middleware for Busy {
        async fn handle(
            &self,
            _: Request,
            _: &mut Extensions,
            _: Next<'_>,
        ) -> Result<Response, Error> {
            lock(&self.0).push(Instant::now());
            let response = ::http::Response::builder()
                .status(429)
                .header("retry-after", "1")
                .header("retry-after-ms", "1700");
            Ok(response.body("").expect("valid headers").into())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_that_is_computed_from_the_response_is_the_wait_itself() {
        const POLICY: Policy = Policy::new().with_attempts(3).without_budget();
        let server = Arc::new(Busy::default());
        let retry = Retry::new(POLICY).with_retry_after(|response| {
            let millis = response.headers().get("retry-after-ms")?.to_str().ok()?;
            Some(Duration::from_millis(millis.parse().ok()?))
        });
        let client = ClientBuilder::new(::reqwest::Client::new())
            .with(retry)
            .with_arc(server.clone())
            .build();
        let response = client.get("http://shop.example/").send().await;
        assert_eq!(response.expect("the last response").status(), 429);
        let asked = lock(&server.0);
        let waits: Vec<_> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits, [Duration::from_millis(1700); 2]);
    }
}
