//! What `docs/MIGRATING.md` says about `reqwest-retry`, by sending the same requests through its middleware and through ours.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::Extensions;
use reattempt::Policy;
use reattempt::reqwest_middleware_0_5::RetryLayer;
use reqwest::{Client, Method, Request, Response};
use reqwest_middleware::{ClientBuilder, Error, Middleware, Next};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig};

const PAGE: &str = include_str!("../../../docs/MIGRATING.md");

/// A server that answers each request with this status and `Retry-After`, and counts the requests.
struct Answers {
    status: u16,
    retry_after: Option<&'static str>,
    requests: AtomicU32,
}

#[async_trait::async_trait]
impl Middleware for Answers {
    async fn handle(&self, _: Request, _: &mut Extensions, _: Next<'_>) -> Result<Response, Error> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut response = http::Response::builder().status(self.status);
        if let Some(seconds) = self.retry_after {
            response = response.header("retry-after", seconds);
        }
        Ok(response.body("").unwrap().into())
    }
}

impl Answers {
    fn of(status: u16) -> Self {
        Self {
            status,
            retry_after: None,
            requests: AtomicU32::new(0),
        }
    }
}

fn theirs(client: ClientBuilder) -> ClientBuilder {
    let millis = Duration::from_millis(1);
    let policy = ExponentialBackoff::builder().retry_bounds(millis, millis);
    let retry = RetryTransientMiddleware::new_with_policy(policy.build_with_max_retries(1));
    client.with(retry)
}

fn ours(client: ClientBuilder) -> ClientBuilder {
    let policy = Policy::new().with_attempts(2).without_budget();
    client.with(RetryLayer::new(
        policy.with_max_retry_after(Duration::from_secs(200)),
    ))
}

type Retries = fn(ClientBuilder) -> ClientBuilder;

/// Each new one reads all certificates of the machine.
static CLIENT: LazyLock<Client> = LazyLock::new(Client::new);

/// Whether a request that gets these answers is sent again.
async fn is_sent_again(retries: Retries, method: Method, answers: Answers) -> bool {
    let status = answers.status;
    let answers = Arc::new(answers);
    let client = retries(ClientBuilder::new(CLIENT.clone())).with_arc(answers.clone());
    let request = client.build().request(method, "http://shop.example/");
    assert_eq!(request.send().await.unwrap().status(), status);
    answers.requests.load(Ordering::Relaxed) == 2
}

/// The statuses of a cell such as `408, 502 to 504`.
fn statuses(cell: &str) -> impl Iterator<Item = u16> {
    let number = |text: &str| text.parse::<u16>().unwrap();
    let ranges = cell.split(", ").map(move |item| {
        let (first, last) = item.split_once(" to ").unwrap_or((item, item));
        number(first)..=number(last)
    });
    ranges.flatten()
}

#[tokio::test(start_paused = true)]
async fn the_table_of_statuses_is_what_both_do_with_each() {
    let (_, rows) = PAGE.split_once("| status |").unwrap();
    let mut said = BTreeMap::new();
    for row in rows.lines().skip(2).take_while(|row| row.starts_with('|')) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [of, theirs, ours] = cells[..] else {
            panic!("{row}")
        };
        for status in statuses(of) {
            let twice = said.insert(status, (theirs == "retried", ours == "retried"));
            assert_eq!(twice, None, "{status}");
        }
    }
    for status in 100..=599 {
        let theirs = is_sent_again(theirs, Method::GET, Answers::of(status)).await;
        let ours = is_sent_again(ours, Method::GET, Answers::of(status)).await;
        let said = said.remove(&status).unwrap_or_default();
        assert_eq!(said, (theirs, ours), "{status}");
    }
    assert!(said.is_empty(), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn it_sends_a_post_again_and_does_not_wait_for_retry_after() {
    assert!(PAGE.contains("| retries every method |"));
    assert!(is_sent_again(theirs, Method::POST, Answers::of(503)).await);
    assert!(!is_sent_again(ours, Method::POST, Answers::of(503)).await);
    assert!(PAGE.contains("| does not read `Retry-After` |"));
    for (retries, waits) in [(theirs as Retries, false), (ours, true)] {
        let mut answers = Answers::of(503);
        answers.retry_after = Some("100");
        let begun = Instant::now();
        assert!(is_sent_again(retries, Method::GET, answers).await);
        assert_eq!(begun.elapsed() >= Duration::from_secs(100), waits);
    }
}

#[tokio::test]
async fn it_connects_again_to_a_server_whose_certificate_is_not_valid() {
    assert!(PAGE.contains("| retries each request that got no connection |"));
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let chain = vec![own.cert.der().clone()];
    let key = own.signing_key.serialize_der().try_into().unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth();
    let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
    for (retries, connections) in [(theirs as Retries, 2), (ours, 1)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(AtomicU32::new(0));
        let (acceptor, count) = (acceptor.clone(), accepted.clone());
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                // The client refuses the certificate.
                let _ = acceptor.accept(stream).await;
            }
        });
        let client = Client::builder().no_proxy().build().unwrap();
        let client = retries(ClientBuilder::new(client)).build();
        let url = format!("https://localhost:{port}/");
        client.get(url).send().await.unwrap_err();
        server.abort();
        assert_eq!(accepted.load(Ordering::Relaxed), connections);
    }
}
