//! The payment service: another company's HTTP server, which remembers the key of each payment, and which can be stopped.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use reattempt::http_1::IDEMPOTENCY_KEY;
use reattempt::retry;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::charge::Order;

/// The card that it declines.
pub(crate) const BAD_CARD: &str = "4000000000000002";

/// How long a payment takes.
const WORK: Duration = Duration::from_millis(30);

/// The server, and its book, which outlives a stop.
#[derive(Debug)]
pub(crate) struct Service {
    address: SocketAddr,
    book: Arc<Book>,
    /// All its tasks. `None` while it is stopped.
    running: Option<Runtime>,
}

#[derive(Debug, Default)]
struct Book {
    entries: Mutex<Entries>,
    /// The client that was charged last without an answer.
    withheld: watch::Sender<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// How often each order was charged, whatever the key.
    pub(crate) charges: HashMap<u32, u32>,
    /// How many requests got an answer that was given before.
    pub(crate) repeats: usize,
    answers: HashMap<String, (Order, StatusCode)>,
    /// The keys of the requests that are under way.
    under_way: HashSet<String>,
    /// The clients that get no answers: how their names begin.
    unanswered: Option<&'static str>,
}

impl Service {
    pub(crate) async fn start() -> io::Result<Self> {
        let mut service = Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            book: Arc::default(),
            running: None,
        };
        service.restart().await?;
        Ok(service)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/payments", self.address)
    }

    /// Ends all its tasks, as a crash would: what was booked may stay unanswered.
    pub(crate) fn stop(&mut self) {
        if let Some(runtime) = self.running.take() {
            runtime.shutdown_background();
        }
    }

    /// Starts it at the same address.
    pub(crate) async fn restart(&mut self) -> io::Result<()> {
        let listener = listen(self.address).await?;
        self.address = listener.local_addr()?;
        self.book.entries().under_way.clear();
        self.answer();
        let router = Router::new()
            .route("/payments", post(pay))
            .with_state(Arc::clone(&self.book));
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = listener.into_std()?;
        runtime.spawn(async move { axum::serve(TcpListener::from_std(listener)?, router).await });
        self.running = Some(runtime);
        Ok(())
    }

    /// Books the payments of these clients, and gives them no answer. Returns the name of the first one.
    pub(crate) async fn withhold_answers(&self, clients: &'static str) -> String {
        self.book.entries().unanswered = Some(clients);
        let mut withheld = self.book.withheld.subscribe();
        let first = withheld.wait_for(|last| last.starts_with(clients)).await;
        // The sender is in the book, so there is one.
        first.map(|name| name.clone()).unwrap_or_default()
    }

    /// Answers all clients again.
    pub(crate) fn answer(&self) {
        self.book.entries().unanswered = None;
    }

    pub(crate) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.book.entries()
    }
}

/// `Runtime` must not be dropped in an async function.
impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

/// While the service is down, another program may have its port for a moment.
#[retry(attempts = 100, backoff = "constant", base = "50ms", on = "io::Error")]
async fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// `POST /payments`.
async fn pay(
    State(book): State<Arc<Book>>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> StatusCode {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(key) = text(IDEMPOTENCY_KEY).map(str::to_owned) else {
        return StatusCode::BAD_REQUEST;
    };
    let client = text(USER_AGENT).unwrap_or_default().to_owned();
    // A client that goes away does not stop its payment.
    let paid = tokio::spawn(async move {
        let answer = book.pay(key, order).await;
        let unanswered = book.entries().unanswered;
        if unanswered.is_some_and(|clients| client.starts_with(clients)) {
            book.withheld.send_replace(client);
            pending::<()>().await;
        }
        answer
    });
    paid.await.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl Book {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pay(&self, key: String, order: Order) -> StatusCode {
        if let Some(answer) = self.entries().begin(&key, &order) {
            return answer;
        }
        sleep(WORK).await;
        self.entries().book(key, order)
    }
}

impl Entries {
    /// Returns the answer, if there is one without a payment.
    fn begin(&mut self, key: &str, order: &Order) -> Option<StatusCode> {
        if let Some((first, answer)) = self.answers.get(key) {
            self.repeats += 1;
            let same = first == order;
            return Some(if same {
                *answer
            } else {
                StatusCode::UNPROCESSABLE_ENTITY
            });
        }
        let new = self.under_way.insert(key.to_owned());
        (!new).then_some(StatusCode::CONFLICT)
    }

    fn book(&mut self, key: String, order: Order) -> StatusCode {
        self.under_way.remove(&key);
        let answer = if order.card == BAD_CARD {
            StatusCode::PAYMENT_REQUIRED
        } else {
            *self.charges.entry(order.number).or_default() += 1;
            StatusCode::CREATED
        };
        self.answers.insert(key, (order, answer));
        answer
    }
}
