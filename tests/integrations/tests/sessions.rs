//! Connections that are kept open: server-sent events, a watch of Kubernetes, a stream of gRPC, a WebSocket.

use std::io;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use integrations::grpc::Service;
use integrations::loopback::Answer::{Bytes, BytesThenReset};
use integrations::loopback::Loopback;
use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{Attempt, Retryable, Stopped, Verdict, codes, retry};
use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, interval, sleep};
use tokio_tungstenite::tungstenite::{self, Message, protocol::CloseFrame};
use tonic::Status;
use tonic_health::pb::health_client::HealthClient;

/// Why a session ended.
#[derive(Debug, thiserror::Error, Retryable)]
enum Ended {
    #[error("the server closed it")]
    #[retryable(transient)]
    Closed,
    /// What was missed is not kept any more.
    #[error("the position is too old")]
    #[retryable(transient)]
    TooOld,
    #[error("not allowed")]
    #[retryable(permanent)]
    NotAllowed,
    #[error("the request failed")]
    #[retryable(forward)]
    Request(#[from] RequestError),
    #[error("the call failed")]
    #[retryable(forward)]
    Call(#[from] Status),
    #[error("no connection")]
    #[retryable(forward)]
    Io(#[from] io::Error),
    #[error("the WebSocket failed")]
    #[retryable(with = "of_socket")]
    WebSocket(#[from] tungstenite::Error),
    #[error("stopped")]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

/// A session that breaks off is followed by the next one, unless the handshake is refused for good.
fn of_socket(error: &tungstenite::Error) -> Verdict {
    match error {
        tungstenite::Error::Http(answer) => codes::http_status(answer.status().as_u16()),
        _ => Verdict::Transient,
    }
}

impl From<reqwest::Error> for Ended {
    fn from(error: reqwest::Error) -> Self {
        RequestError::from(error).into()
    }
}

fn client() -> Client {
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0);
    client.build().unwrap()
}

/// Server-sent events, until the server says that there are no more. It sends a comment now and then.
#[retry(
    attempts = "unlimited",
    base = "10ms",
    max_delay = "30s",
    timeout = "20s"
)]
async fn events(
    client: &Client,
    url: &str,
    last: &mut Option<String>,
    seen: &mut Vec<String>,
) -> Result<(), Ended> {
    let mut request = client.get(url).header("accept", "text/event-stream");
    if let Some(last) = &*last {
        request = request.header("last-event-id", last);
    }
    let mut response = request.send().await?.check().map_err(RequestError::from)?;
    if response.status() == StatusCode::NO_CONTENT {
        return Ok(());
    }
    // A chunk may end within a letter.
    let (mut text, mut id, mut data) = (Vec::new(), None, Vec::new());
    while let Some(chunk) = response.chunk().await? {
        Attempt::record_progress();
        text.extend_from_slice(&chunk);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\r', '\n']);
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match field {
                "id" => id = Some(value),
                "data" => data.push(value),
                // The event is whole.
                _ if line.is_empty() => {
                    seen.append(&mut data);
                    *last = id.take().or(last.take());
                }
                _ => {}
            }
        }
    }
    Err(Ended::Closed)
}

#[tokio::test]
async fn events_go_on_after_the_last_one_until_a_204() {
    const LETTER_IN_TWO: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
        19\r\n: nothing new\n\nid: 3\ndata\r\n3\r\n: \xc3\r\n3\r\n\xa4\n\n\r\n0\r\n\r\n";
    let server = Loopback::start(&[
        BytesThenReset(b"HTTP/1.1 200 OK\r\n\r\nid: 1\ndata: a\n\nid:2\r\ndata:b\r\n\r\nid: 3\nda"),
        Bytes(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"),
        Bytes(LETTER_IN_TWO),
        Bytes(b"HTTP/1.1 204 No Content\r\n\r\n"),
    ])
    .await;
    let (mut last, mut seen) = (None, Vec::new());
    events(&client(), &server.url(), &mut last, &mut seen)
        .await
        .unwrap();
    assert_eq!(seen, ["a", "b", "ä"]);
    let asked = server.requests();
    let asked = asked.iter().map(|head| {
        let (_, id) = head.split_once("last-event-id: ")?;
        id.chars().next()
    });
    let asked: Vec<_> = asked.collect();
    assert_eq!(asked, [None, Some('2'), Some('2'), Some('3')]);
}

/// A watch of Kubernetes, as its API has it: a list, then the changes after its version. Ends when it has seen `until`.
#[retry(attempts = "unlimited", base = "10ms", max_delay = "30s")]
async fn watch(
    client: &Client,
    url: &str,
    version: &mut Option<String>,
    seen: &mut Vec<String>,
    until: &str,
) -> Result<(), Ended> {
    let version_of = |value: &Value| {
        value["metadata"]["resourceVersion"]
            .as_str()
            .map(str::to_owned)
    };
    if version.is_none() {
        let list = client
            .get(url)
            .send()
            .await?
            .check()
            .map_err(RequestError::from)?;
        let list: Value = list.json().await?;
        seen.push("list".to_owned());
        *version = version_of(&list);
    }
    let from = version.as_deref().unwrap_or_default();
    let request = client.get(format!(
        "{url}?watch=true&resourceVersion={from}&allowWatchBookmarks=true"
    ));
    let response = request.send().await?;
    // A 504 says that this server has not come to the version yet, and may not for ever.
    if [StatusCode::GONE, StatusCode::GATEWAY_TIMEOUT].contains(&response.status()) {
        *version = None;
        return Err(Ended::TooOld);
    }
    let mut response = response.check().map_err(RequestError::from)?;
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        text.extend_from_slice(&chunk);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let event: Value = serde_json::from_slice(&line).map_err(io::Error::from)?;
            if event["type"] == "ERROR" {
                *version = None;
                return Err(Ended::TooOld);
            }
            Attempt::record_progress();
            *version = version_of(&event["object"]).or(version.take());
            let name = event["object"]["metadata"]["name"]
                .as_str()
                .unwrap_or_default();
            seen.push(name.to_owned());
            if name == until {
                return Ok(());
            }
        }
    }
    // The server ends each watch after some minutes.
    Err(Ended::Closed)
}

#[tokio::test]
async fn a_watch_goes_on_from_its_version_and_lists_again_if_that_is_gone() {
    const LIST: &[u8] =
        b"HTTP/1.1 200 OK\r\n\r\n{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}";
    const GONE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n";
    const ONE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"one\",\"resourceVersion\":\"8\"}}}\n";
    const TWO: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"two\",\"resourceVersion\":\"9\"}}}\n";
    let server = Loopback::start(&[
        Bytes(LIST),
        BytesThenReset(ONE),
        Bytes(GONE),
        Bytes(LIST),
        Bytes(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"),
        Bytes(LIST),
        Bytes(b"HTTP/1.1 504 Too large resource version\r\ncontent-length: 0\r\n\r\n"),
        Bytes(LIST),
        Bytes(TWO),
    ])
    .await;
    let (mut version, mut seen) = (None, Vec::new());
    watch(&client(), &server.url(), &mut version, &mut seen, "two")
        .await
        .unwrap();
    assert_eq!(seen, ["list", "one", "list", "list", "list", "two"]);
    let watches = server.requests();
    let watches = watches
        .iter()
        .filter_map(|head| head.split_once("resourceversion="));
    let versions: Vec<_> = watches.map(|(_, version)| &version[..1]).collect();
    assert_eq!(versions, ["7", "8", "7", "7", "7"]);
}

#[retry(attempts = "unlimited", base = "10ms", max_delay = "30s")]
async fn statuses(
    client: &HealthClient<tonic::transport::Channel>,
    seen: &mut Vec<i32>,
) -> Result<(), Ended> {
    let mut stream = client
        .clone()
        .watch(tonic_health::pb::HealthCheckRequest::default())
        .await?;
    let stream = stream.get_mut();
    while let Some(status) = stream.message().await? {
        Attempt::record_progress();
        seen.push(status.status);
        if seen.len() == 3 {
            return Ok(());
        }
    }
    Err(Ended::Closed)
}

#[tokio::test]
async fn a_stream_of_grpc_is_opened_again_unless_the_caller_is_not_allowed() {
    let server = Service::start(|call| match call {
        2 => Some(Status::unavailable("going away")),
        3 => Some(Status::unauthenticated("who are you?")),
        _ => None,
    })
    .await;
    let mut seen = Vec::new();
    let refused = statuses(&server.client(), &mut seen).await;
    assert!(matches!(refused, Err(Ended::Call(_))), "{refused:?}");
    assert_eq!((seen.len(), server.calls()), (2, 3));
    statuses(&server.client(), &mut seen).await.unwrap();
}

/// How long after its beginning a session may be refused. In a program, a minute.
const REFUSED: Duration = Duration::from_millis(500);

/// Reads numbers, each a message, from the one after `last`.
#[retry(
    attempts = "unlimited",
    base = "10ms",
    max_delay = "30s",
    timeout = "20s"
)]
async fn numbers(address: &str, last: &mut u64) -> Result<(), Ended> {
    let began = Instant::now();
    let stream = TcpStream::connect(address).await?;
    let connected = tokio_tungstenite::client_async(format!("ws://{address}/"), stream).await;
    let (mut socket, _) = connected?;
    socket.send(last.to_string().into()).await?;
    // The server may have nothing to say, but has to answer.
    let mut pings = interval(Duration::from_secs(10));
    loop {
        let message = tokio::select! {
            message = socket.next() => message,
            _ = pings.tick() => {
                socket.send(Message::Ping(tungstenite::Bytes::new())).await?;
                continue;
            }
        };
        match message.ok_or(Ended::Closed)?? {
            Message::Text(number) => {
                Attempt::record_progress();
                *last = number.parse().unwrap_or(*last);
            }
            Message::Pong(_) => Attempt::record_progress(),
            // A later one says that the login has expired: the next session signs in again.
            Message::Close(Some(why))
                if u16::from(why.code) == 1008 && began.elapsed() < REFUSED =>
            {
                return Err(Ended::NotAllowed);
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_web_socket_goes_on_until_the_server_forbids_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = async {
        for sent in 1..=5_u64 {
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            let after = socket.next().await.unwrap().unwrap();
            assert_eq!(after.into_text().unwrap().as_str(), (sent - 1).to_string());
            if sent < 5 {
                socket.send(sent.to_string().into()).await.unwrap();
            }
            if sent == 3 {
                sleep(REFUSED).await;
            }
            if [3, 5].contains(&sent) {
                let (code, reason) = (1008.into(), "not allowed".into());
                let close = Message::Close(Some(CloseFrame { code, reason }));
                socket.send(close).await.unwrap();
            }
        }
    };
    let mut last = 0;
    let (ended, ()) = tokio::join!(numbers(&address, &mut last), server);
    assert!(matches!(ended, Err(Ended::NotAllowed)), "{ended:?}");
    assert_eq!(last, 4);
    let login = Loopback::start(&[Bytes(b"HTTP/1.1 401 Who are you?\r\n\r\n")]).await;
    let ended = numbers(&login.address.to_string(), &mut last).await;
    assert!(matches!(ended, Err(Ended::WebSocket(_))), "{ended:?}");
    assert_eq!(login.calls(), 1);
}
