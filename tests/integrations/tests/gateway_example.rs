//! The example `gateway`, before upstreams of HTTP/1 and HTTP/2 that are killed and come back.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use gateway::{Upstream, gateway};
use http::Response;
use integrations::loopback::{Answer, Loopback};
use integrations::upstream::{self, Answers, Version};
use reqwest::Client;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[path = "../../../examples/gateway/gateway.rs"]
mod gateway;

/// A gateway to an upstream at `/one` and to one at `/two`, which speaks HTTP/2.
async fn before(one: SocketAddr, two: SocketAddr) -> (Client, String) {
    let upstream = |prefix, address: SocketAddr, http2| Upstream {
        prefix,
        authority: address.to_string().parse().unwrap(),
        http2,
    };
    let upstreams = vec![upstream("/one", one, false), upstream("/two", two, true)];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, gateway(upstreams)).await });
    (Client::builder().no_proxy().build().unwrap(), url)
}

const VERSIONS: [Version; 2] = [Version::One, Version::Two(100)];

fn started(answers: Answers) -> [upstream::Upstream; 2] {
    VERSIONS.map(|version| upstream::Upstream::start(version, answers))
}

const FINE: Answers = |_, _| Response::new("fine".into());
/// Fails once.
const ONCE: Answers = |call, request| {
    let status = if call == 0 { 503 } else { 200 };
    let path = request.uri().path().to_owned();
    Response::builder()
        .status(status)
        .body(path.into())
        .unwrap()
};

#[tokio::test]
async fn an_upstream_that_is_killed_fails_alone_and_comes_back() {
    let [one, two] = started(FINE);
    let addresses = [one.address, two.address];
    let (client, url) = before(addresses[0], addresses[1]).await;
    let status = async |path: &str| {
        let response = client.get(format!("{url}{path}")).send().await.unwrap();
        response.status().as_u16()
    };
    let mut upstreams = [Some(one), Some(two)];
    let paths = ["/one/", "/two/"];
    for killed in [0, 1, 0] {
        let other = 1 - killed;
        assert_eq!(status(paths[killed]).await, 200);
        upstreams[killed].take().unwrap().kill().await;
        for _ in 0..3 {
            assert_eq!(status(paths[killed]).await, 503, "{killed}");
            assert_eq!(status(paths[other]).await, 200, "{killed}");
        }
        let again = upstream::Upstream::start_at(addresses[killed], VERSIONS[killed], FINE);
        upstreams[killed] = Some(again);
        assert_eq!(status(paths[killed]).await, 200, "{killed}");
    }
}

#[tokio::test]
async fn a_short_body_is_sent_again_and_a_long_one_is_a_stream() {
    for (length, status, calls) in [(64 << 10, 200, 2), ((64 << 10) + 1, 503, 1)] {
        for path in ["/one/item", "/two/item"] {
            let upstreams = started(ONCE);
            let (client, url) = before(upstreams[0].address, upstreams[1].address).await;
            let put = client.put(format!("{url}{path}")).body(vec![b'a'; length]);
            let response = put.send().await.unwrap();
            assert_eq!(response.status(), status, "{length} {path}");
            let counted: usize = upstreams.iter().map(upstream::Upstream::calls).sum();
            assert_eq!(counted, calls, "{length} {path}");
            assert_eq!(response.text().await.unwrap(), "/item");
        }
    }
}

/// Begins an upload of this length to a gateway.
async fn upload(url: &str, length: usize) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "PUT /one/ HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\ncontent-length: ";
    let head = format!("{head}{length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_long_upload_takes_longer_than_an_attempt_may() {
    const LENGTH: usize = (64 << 10) + 10;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let reads = listener.local_addr().unwrap();
    let length = async |body: axum::body::Bytes| body.len().to_string();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(length)).await });
    let (_, url) = before(reads, reads).await;
    let mut stream = upload(&url, LENGTH).await;
    stream.write_all(&vec![b'a'; LENGTH - 1]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    stream.write_all(b"a").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with(&LENGTH.to_string()), "{answer}");
}

#[tokio::test]
async fn a_short_body_that_does_not_end_is_not_waited_for() {
    let upstreams = started(FINE);
    let (_, url) = before(upstreams[0].address, upstreams[1].address).await;
    let mut stream = upload(&url, 10).await;
    stream.write_all(b"part").await.unwrap();
    tokio::time::pause();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(upstreams.map(|upstream| upstream.calls()), [0, 0]);
}

#[tokio::test]
async fn a_post_is_sent_once_whatever_its_client_sets() {
    let upstreams = started(ONCE);
    let (client, url) = before(upstreams[0].address, upstreams[1].address).await;
    for path in ["/one/", "/two/"] {
        let post = client.post(format!("{url}{path}"));
        let response = post.header("idempotency-key", "order-7").send().await;
        assert_eq!(response.unwrap().status(), 503);
    }
    assert_eq!(upstreams.map(|upstream| upstream.calls()), [1, 1]);
}

#[tokio::test]
async fn headers_of_a_connection_end_at_the_gateway_and_those_of_the_attempt_are_its_own() {
    let upstreams = started(|_, request| {
        let headers = request.headers();
        let gone = ["connection", "keep-alive", "te", "x-secret"];
        assert!(
            gone.iter().all(|name| !headers.contains_key(*name)),
            "{headers:?}"
        );
        let left: u32 = headers["x-timeout-ms"].to_str().unwrap().parse().unwrap();
        assert!(
            left <= 1_000,
            "the timeout of the gateway is nearer: {left}"
        );
        assert_eq!(headers["x-attempt-number"], "1");
        Response::new("fine".into())
    });
    let (client, url) = before(upstreams[0].address, upstreams[1].address).await;
    for path in ["/one/", "/two/"] {
        let request = client.get(format!("{url}{path}"));
        let request = request
            .header("connection", "x-secret")
            .header("x-secret", "1");
        let request = request
            .header("keep-alive", "timeout=5")
            .header("te", "trailers");
        let request = request
            .header("x-timeout-ms", "5000")
            .header("x-attempt-number", "7");
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn the_cause_decides_between_502_and_504() {
    let resets = Loopback::start(&[Answer::Reset; 4]).await;
    let stalls = Loopback::start(&[Answer::Stall; 5]).await;
    let (client, url) = before(resets.address, stalls.address).await;
    let status = async |path: &str, millis| {
        let request = client.get(format!("{url}{path}"));
        let response = request.header("x-timeout-ms", millis).send().await;
        response.unwrap().status().as_u16()
    };
    assert_eq!(status("/one/", "5000").await, 502);
    assert_eq!(status("/two/", "300").await, 504);
    assert_eq!(status("/three/", "300").await, 404);
}
