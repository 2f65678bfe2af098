//! A verdict in one line, for the errors of clients that have no adapter. Each line is a row of `src/guide/clients.md`.

use std::error::Error as _;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

#[cfg(heavy)]
use alloy_transport::{RpcError, TransportError, TransportErrorKind};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::{RequestError, RequestErrorKind};
use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::error::{ErrorMetadata, ProvideErrorMetadata as _, SdkError};
use aws_sdk_sqs::operation::send_message::SendMessageError;
use lettre::address::Envelope;
use lettre::transport::smtp;
use lettre::{SmtpTransport, Transport as _};
#[cfg(heavy)]
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use reattempt::{Verdict, codes, retry, with_report};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::error::{ProtocolError, UrlError};
use tokio_tungstenite::tungstenite::{self, http};
use tonic::{Code, Status};

#[cfg(heavy)]
#[rustfmt::skip]
#[retry(verdict = |error: &KafkaError| error.rdkafka_error_code().map_or(Verdict::Unknown, |code| codes::kafka(code as i32)))]
async fn kafka(code: RDKafkaErrorCode) -> Result<(), KafkaError> {
    Err(KafkaError::MessageProduction(code))
}

// A 409 is permanent: the same object has the same `resourceVersion` again. If the body reads the object too, it is a conflict.
#[cfg(heavy)]
#[rustfmt::skip]
fn kubernetes(error: &kube::Error) -> (Verdict, Option<Duration>) {
    let kube::Error::Api(status) = error else {
        return (Verdict::Unknown, None);
    };
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    let hint = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
    (codes::http_status(status.code), hint)
}

#[cfg(heavy)]
#[retry(verdict = kubernetes)]
async fn cluster(error: fn() -> kube::Error) -> Result<(), kube::Error> {
    Err(error())
}

#[cfg(heavy)]
#[rustfmt::skip]
#[retry(verdict = |error: &mongodb::error::Error| codes::mongodb_labels(error.labels()))]
async fn documents(error: fn() -> mongodb::error::Error) -> Result<(), mongodb::error::Error> {
    Err(error())
}

fn nats_request(error: &RequestError) -> Verdict {
    match error.kind() {
        RequestErrorKind::NoResponders => Verdict::Refused,
        RequestErrorKind::TimedOut => Verdict::Transient,
        _ => Verdict::Unknown,
    }
}

#[retry(verdict = nats_request)]
async fn nats(kind: RequestErrorKind) -> Result<(), RequestError> {
    Err(kind.into())
}

// With a `Nats-Msg-Id`, by which the server knows a message again.
fn nats_message(error: &PublishError) -> Verdict {
    match error.kind() {
        PublishErrorKind::StreamNotFound | PublishErrorKind::MaxAckPending => Verdict::Refused,
        PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Verdict::Transient,
        _ => Verdict::Unknown,
    }
}

#[retry(verdict = nats_message)]
async fn jetstream(kind: PublishErrorKind) -> Result<(), PublishError> {
    Err(kind.into())
}

fn sqs(error: &SdkError<SendMessageError>) -> Verdict {
    match error.code().map_or(Verdict::Unknown, codes::aws) {
        Verdict::Unknown => error.raw_response().map_or(Verdict::Unknown, |answer| {
            codes::http_status(answer.status().as_u16())
        }),
        known => known,
    }
}

#[retry(verdict = sqs)]
async fn aws(error: fn() -> SdkError<SendMessageError>) -> Result<(), SdkError<SendMessageError>> {
    Err(error())
}

// A node says that it throttles by a code or a text.
#[cfg(heavy)]
#[rustfmt::skip]
pub(super) fn node(error: &TransportError) -> (Verdict, Option<Duration>) {
    match error {
        RpcError::ErrorResp(answer) if answer.is_retry_err() => (Verdict::Throttled, None),
        RpcError::ErrorResp(_) => (Verdict::Permanent, None),
        RpcError::Transport(failed) => {
            let status = failed.as_http_error().map(|answer| answer.status);
            (status.map_or(Verdict::Unknown, codes::http_status), failed.retry_after())
        }
        _ => (Verdict::Unknown, None),
    }
}

#[cfg(heavy)]
#[retry(verdict = node)]
async fn chain(error: fn() -> TransportError) -> Result<(), TransportError> {
    Err(error())
}

#[cfg(heavy)]
fn labelled(label: &str) -> mongodb::error::Error {
    use mongodb::error::{ErrorKind, WriteFailure};
    let answer = serde_json::json!({ "code": 91, "errorLabels": [label] });
    ErrorKind::Write(WriteFailure::WriteConcernError(
        serde_json::from_value(answer).unwrap(),
    ))
    .into()
}

#[cfg(heavy)]
fn answer_of_node(answer: &str) -> TransportError {
    TransportError::ErrorResp(serde_json::from_str(answer).unwrap())
}

#[cfg(heavy)]
fn answer_of_cluster(status: &str) -> kube::Error {
    kube::Error::Api(serde_json::from_str(status).unwrap())
}

fn answer(status: u16, code: Option<&str>) -> SdkError<SendMessageError> {
    let mut meta = ErrorMetadata::builder();
    if let Some(code) = code {
        meta = meta.code(code);
    }
    let response = HttpResponse::new(status.try_into().unwrap(), "".into());
    SdkError::service_error(SendMessageError::generic(meta.build()), response)
}

#[rustfmt::skip]
#[retry(verdict = |status: &Status| codes::grpc(status.code() as i32))]
async fn grpc(code: Code) -> Result<(), Status> {
    Err(Status::new(code, "in a test"))
}

// A mail whose answer is lost may have been sent.
fn smtp_mail(error: &smtp::Error) -> Verdict {
    if error.is_transient() {
        return Verdict::Refused;
    }
    if error.is_permanent() {
        return Verdict::Permanent;
    }
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    match cause.map(codes::io) {
        Some(Verdict::Refused) => Verdict::Refused,
        _ => Verdict::Unknown,
    }
}

#[retry(verdict = smtp_mail)]
async fn mail(port: fn() -> u16) -> Result<(), smtp::Error> {
    let mailer = SmtpTransport::builder_dangerous("127.0.0.1")
        .port(port())
        .build();
    let envelope = Envelope::new(None, vec!["a@mail.example".parse().unwrap()]).unwrap();
    mailer.send_raw(&envelope, b"a mail").map(drop)
}

/// A mail server that hangs up after these replies.
fn mail_server(replies: &'static [&'static str]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut stream = BufReader::new(listener.accept().unwrap().0);
        for reply in replies {
            stream.get_mut().write_all(reply.as_bytes()).unwrap();
            stream.read_line(&mut String::new()).unwrap();
        }
    });
    port
}

// For the function that connects: a lost connection takes its messages along.
fn web_socket(error: &tungstenite::Error) -> (Verdict, Option<Duration>) {
    match error {
        tungstenite::Error::Io(lost) => (codes::io(lost), None),
        tungstenite::Error::Http(answer) => {
            let status = codes::http_status(answer.status().as_u16());
            (status, reattempt::http_1::retry_after(answer.headers()))
        }
        tungstenite::Error::Protocol(ProtocolError::HandshakeIncomplete) => {
            (Verdict::Transient, None)
        }
        _ => (Verdict::Unknown, None),
    }
}

#[retry(verdict = web_socket)]
async fn socket(error: fn() -> tungstenite::Error) -> Result<(), tungstenite::Error> {
    Err(error())
}

fn refused(status: u16) -> tungstenite::Error {
    let answer = http::Response::builder().status(status);
    let answer = answer.header("retry-after", "7").body(None).unwrap();
    tungstenite::Error::Http(Box::new(answer))
}

/// How many attempts a call made, and the verdict of the last.
async fn seen<E>(call: impl Future<Output = Result<(), E>>) -> (u32, Option<Verdict>) {
    let (ended, report) = with_report(call).await;
    assert!(ended.is_err());
    let report = report.unwrap();
    (report.attempts(), report.verdict())
}

const fn retried(verdict: Verdict) -> (u32, Option<Verdict>) {
    (3, Some(verdict))
}

const fn ended(verdict: Verdict) -> (u32, Option<Verdict>) {
    (1, Some(verdict))
}

#[cfg(heavy)]
#[tokio::test(start_paused = true)]
async fn the_errors_of_heavy_strangers_have_a_verdict_in_one_line() {
    let full = RDKafkaErrorCode::NotEnoughReplicas;
    assert_eq!(seen(kafka(full)).await, retried(Verdict::Refused));
    assert_eq!(
        seen(kafka(RDKafkaErrorCode::QueueFull)).await,
        retried(Verdict::Refused)
    );
    let moved = RDKafkaErrorCode::NotLeaderForPartition;
    assert_eq!(seen(kafka(moved)).await, retried(Verdict::Transient));
    let too_large = RDKafkaErrorCode::MessageSizeTooLarge;
    assert_eq!(seen(kafka(too_large)).await, ended(Verdict::Permanent));
    let lost = RDKafkaErrorCode::BrokerTransportFailure;
    assert_eq!(seen(kafka(lost)).await, ended(Verdict::Unknown));

    let began = Instant::now();
    let busy = || {
        answer_of_cluster(
            r#"{"code":429,"reason":"TooManyRequests","details":{"retryAfterSeconds":7}}"#,
        )
    };
    assert_eq!(seen(cluster(busy)).await, retried(Verdict::Throttled));
    assert!(began.elapsed() >= Duration::from_secs(2 * 7));
    let late = || answer_of_cluster(r#"{"code":504,"reason":"Timeout"}"#);
    assert_eq!(seen(cluster(late)).await, retried(Verdict::Transient));
    // The same request has the same resource version.
    let newer = || answer_of_cluster(r#"{"code":409,"reason":"Conflict"}"#);
    assert_eq!(seen(cluster(newer)).await, ended(Verdict::Permanent));
    let lost = || kube::Error::ReadEvents(io::ErrorKind::ConnectionReset.into());
    assert_eq!(seen(cluster(lost)).await, ended(Verdict::Unknown));

    let aborted = || labelled(mongodb::error::TRANSIENT_TRANSACTION_ERROR);
    assert_eq!(seen(documents(aborted)).await, retried(Verdict::Refused));
    let moved = || labelled(mongodb::error::RETRYABLE_WRITE_ERROR);
    assert_eq!(seen(documents(moved)).await, retried(Verdict::Transient));
    let in_doubt = || labelled(mongodb::error::UNKNOWN_TRANSACTION_COMMIT_RESULT);
    assert_eq!(seen(documents(in_doubt)).await, ended(Verdict::Unknown));
    let lost = || io::Error::from(io::ErrorKind::ConnectionReset).into();
    assert_eq!(seen(documents(lost)).await, ended(Verdict::Unknown));

    let busy = || TransportErrorKind::http_error(503, "busy".into());
    assert_eq!(seen(chain(busy)).await, retried(Verdict::Transient));
    let throttled = || answer_of_node(r#"{"code":429,"message":"too many requests"}"#);
    assert_eq!(seen(chain(throttled)).await, retried(Verdict::Throttled));
    let known = || answer_of_node(r#"{"code":-32000,"message":"already known"}"#);
    assert_eq!(seen(chain(known)).await, ended(Verdict::Permanent));
    let lost = || TransportErrorKind::custom(io::Error::from(io::ErrorKind::ConnectionReset));
    assert_eq!(seen(chain(lost)).await, ended(Verdict::Unknown));
}

#[tokio::test(start_paused = true)]
async fn the_errors_of_strangers_have_a_verdict_in_one_line() {
    let none = RequestErrorKind::NoResponders;
    assert_eq!(seen(nats(none)).await, retried(Verdict::Refused));
    let late = RequestErrorKind::TimedOut;
    assert_eq!(seen(nats(late)).await, retried(Verdict::Transient));

    let none = PublishErrorKind::StreamNotFound;
    assert_eq!(seen(jetstream(none)).await, retried(Verdict::Refused));
    let late = PublishErrorKind::TimedOut;
    assert_eq!(seen(jetstream(late)).await, retried(Verdict::Transient));
    let other = PublishErrorKind::WrongLastSequence;
    assert_eq!(seen(jetstream(other)).await, ended(Verdict::Unknown));

    let throttled = || answer(400, Some("ThrottlingException"));
    assert_eq!(seen(aws(throttled)).await, retried(Verdict::Throttled));
    // The status decides, also of an answer without a body, as to a HEAD or from a load balancer.
    let missing = || answer(400, Some("QueueDoesNotExist"));
    assert_eq!(seen(aws(missing)).await, ended(Verdict::Permanent));
    let busy = || answer(503, None);
    assert_eq!(seen(aws(busy)).await, retried(Verdict::Transient));
    let lost = || SdkError::timeout_error("no answer");
    assert_eq!(seen(aws(lost)).await, ended(Verdict::Unknown));

    let busy = seen(grpc(Code::Unavailable)).await;
    assert_eq!(busy.0, 3);
    let wrong = seen(grpc(Code::InvalidArgument)).await;
    assert_eq!(wrong, ended(Verdict::Permanent));
}

#[tokio::test(start_paused = true)]
async fn a_mail_is_sent_again_only_if_the_server_has_not_taken_it() {
    let down = || {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        closed.local_addr().unwrap().port()
    };
    assert_eq!(seen(mail(down)).await, retried(Verdict::Refused));
    let busy = || mail_server(&["421 busy\r\n"]);
    assert_eq!(seen(mail(busy)).await, retried(Verdict::Refused));
    let greylisted = || mail_server(&["220 mx\r\n", "250 mx\r\n", "250 ok\r\n", "451 later\r\n"]);
    assert_eq!(seen(mail(greylisted)).await, retried(Verdict::Refused));
    let no_such_user = || mail_server(&["220 mx\r\n", "250 mx\r\n", "250 ok\r\n", "550 no\r\n"]);
    assert_eq!(seen(mail(no_such_user)).await, ended(Verdict::Permanent));
    // The server has the mail, and its answer is lost.
    let lost = || {
        mail_server(&[
            "220 mx\r\n",
            "250 mx\r\n",
            "250 ok\r\n",
            "250 ok\r\n",
            "354 go\r\n",
        ])
    };
    assert_eq!(seen(mail(lost)).await, ended(Verdict::Unknown));
}

#[tokio::test(start_paused = true)]
async fn a_socket_connects_again_when_the_server_says() {
    let down = || io::Error::from(io::ErrorKind::ConnectionRefused).into();
    assert_eq!(seen(socket(down)).await, retried(Verdict::Refused));
    let restarts = || ProtocolError::HandshakeIncomplete.into();
    assert_eq!(seen(socket(restarts)).await, retried(Verdict::Transient));
    let began = Instant::now();
    let full = || refused(429);
    assert_eq!(seen(socket(full)).await, retried(Verdict::Throttled));
    assert!(began.elapsed() >= Duration::from_secs(2 * 7));
    let login = || refused(401);
    assert_eq!(seen(socket(login)).await, ended(Verdict::Permanent));
    let wrong = || UrlError::UnsupportedUrlScheme.into();
    assert_eq!(seen(socket(wrong)).await, ended(Verdict::Unknown));
}

#[test]
fn each_line_and_function_of_the_page_is_one_that_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../src/guide/clients.md")).unwrap();
    let (_, section) = page.split_once("# Clients without an adapter").unwrap();
    let (section, _) = section.split_once("\n# ").unwrap();
    let cells = section.lines().filter_map(|row| row.split(" | ").nth(1));
    let cells = cells.filter_map(|cell| Some(cell.split('`').nth(1)?.replace("\\|", "|")));
    let lines = cells.filter(|cell| cell.starts_with("verdict = "));
    let lines: Vec<_> = lines.collect();
    let functions = section.split("```").nth(1).unwrap().split("\nfn ").skip(1);
    let functions = functions.map(|rest| format!("\nfn {}", rest.split("\n}").next().unwrap()));
    let functions: Vec<_> = functions.collect();
    assert_eq!((lines.len(), functions.len()), (4, 7), "{section}");
    let here = [
        include_str!("verdicts.rs"),
        include_str!("heavy/conflicts.rs"),
    ]
    .concat();
    let here = here.replace("\npub(super) fn ", "\nfn ");
    for part in lines.iter().chain(&functions) {
        assert!(here.contains(part), "clients.md: {part}");
    }
}
