//! The number of resends of an HTTP request, which OpenTelemetry's semantic conventions ask for from the first retry on.

use std::io;
use std::net::SocketAddr;

use opentelemetry::Value;
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::retry;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::recorded::{Recorded, value};

#[tokio::test(start_paused = true)]
async fn the_span_of_a_request_that_is_sent_again_has_the_number_of_resends() {
    #[retry(attempts = 3, base = "1ms", name = "request", budget = "none")]
    async fn request() -> io::Result<()> {
        tracing::debug_span!("own").in_scope(|| {
            reattempt::http_1::set_attempt_headers(&mut http::Request::new(()));
        });
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let recorded = Recorded::start();
    request().await.unwrap_err();
    assert_eq!(resends(&recorded), [None, Some(1), Some(2)]);
}

#[tokio::test]
async fn a_request_of_reqwest_has_the_number_of_resends() {
    #[retry(delays = ["0s", "0s"], budget = "none")]
    async fn fetch(client: &reqwest::Client, url: &str) -> Result<String, RequestError> {
        let response = client.get(url).attempt_headers().send().await?.check()?;
        Ok(response.text().await?)
    }
    let address = unavailable_twice().await;
    let recorded = Recorded::start();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = fetch(&client, &format!("http://{address}/")).await.unwrap();
    assert_eq!(answer, "well");
    assert_eq!(resends(&recorded), [None, Some(1), Some(2)]);
}

/// The number in the span of each attempt.
fn resends(recorded: &Recorded) -> Vec<Option<i64>> {
    let spans = recorded.spans();
    let attempts = spans.iter().filter(|span| span.name == "attempt");
    attempts
        .map(|span| match value(span, "http.request.resend_count")? {
            Value::I64(number) => Some(number),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A server that is unavailable for two requests.
async fn unavailable_twice() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for status in [503, 503, 200] {
            let (mut stream, _) = listener.accept().await.unwrap();
            // The request fits into it.
            let read = stream.read(&mut [0; 4096]).await.unwrap();
            assert!(read > 0);
            let answer = format!(
                "HTTP/1.1 {status} _\r\ncontent-length: 4\r\nconnection: close\r\n\r\nwell"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}
