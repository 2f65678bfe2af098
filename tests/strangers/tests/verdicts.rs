//! A verdict in one line, for the errors of clients that have no adapter. Each line is a row of `src/guide/clients.md`.

use std::fs;
use std::path::Path;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::{RequestError, RequestErrorKind};
use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::error::{ErrorMetadata, ProvideErrorMetadata as _, SdkError};
use aws_sdk_sqs::operation::send_message::SendMessageError;
#[cfg(kafka)]
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use reattempt::{Verdict, codes, retry, with_report};
use tonic::{Code, Status};

#[cfg(kafka)]
#[rustfmt::skip]
#[retry(verdict = |error: &KafkaError| error.rdkafka_error_code().map_or(Verdict::Unknown, |code| codes::kafka(code as i32)))]
async fn kafka(code: RDKafkaErrorCode) -> Result<(), KafkaError> {
    Err(KafkaError::MessageProduction(code))
}

#[rustfmt::skip]
#[retry(verdict = |error: &RequestError| match error.kind() { RequestErrorKind::NoResponders => Verdict::Refused, RequestErrorKind::TimedOut => Verdict::Transient, _ => Verdict::Unknown })]
async fn nats(kind: RequestErrorKind) -> Result<(), RequestError> {
    Err(kind.into())
}

#[rustfmt::skip]
#[retry(verdict = |error: &PublishError| match error.kind() { PublishErrorKind::StreamNotFound | PublishErrorKind::MaxAckPending => Verdict::Refused, PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Verdict::Transient, _ => Verdict::Unknown })]
async fn jetstream(kind: PublishErrorKind) -> Result<(), PublishError> {
    Err(kind.into())
}

#[rustfmt::skip]
#[retry(verdict = |error: &SdkError<SendMessageError>| match error.code().map_or(Verdict::Unknown, codes::aws) { Verdict::Unknown => error.raw_response().map_or(Verdict::Unknown, |answer| codes::http_status(answer.status().as_u16())), known => known })]
async fn aws(error: fn() -> SdkError<SendMessageError>) -> Result<(), SdkError<SendMessageError>> {
    Err(error())
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

#[cfg(kafka)]
#[tokio::test(start_paused = true)]
async fn the_errors_of_kafka_have_a_verdict_in_one_line() {
    let full = RDKafkaErrorCode::NotEnoughReplicas;
    assert_eq!(seen(kafka(full)).await, retried(Verdict::Refused));
    let moved = RDKafkaErrorCode::NotLeaderForPartition;
    assert_eq!(seen(kafka(moved)).await, retried(Verdict::Transient));
    let too_large = RDKafkaErrorCode::MessageSizeTooLarge;
    assert_eq!(seen(kafka(too_large)).await, ended(Verdict::Permanent));
    let lost = RDKafkaErrorCode::BrokerTransportFailure;
    assert_eq!(seen(kafka(lost)).await, ended(Verdict::Unknown));
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

#[test]
fn each_line_of_the_page_is_one_that_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../src/guide/clients.md")).unwrap();
    let (_, table) = page.split_once("# Clients without an adapter").unwrap();
    let cells = table.lines().filter_map(|row| row.split(" | ").nth(1));
    let lines: Vec<_> = cells
        .map(|cell| cell.trim_matches(['`', '|', ' ']).replace("\\|", "|"))
        .filter(|cell| cell.starts_with("verdict = "))
        .collect();
    assert_eq!(lines.len(), 5, "{lines:#?}");
    for line in lines {
        assert!(
            include_str!("verdicts.rs").contains(&format!("#[retry({line})]")),
            "{line}"
        );
    }
}
