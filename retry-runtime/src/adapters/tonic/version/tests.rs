use std::io;

use super::super::prost::bytes::Bytes;
use super::super::types::{ErrorDetails, StatusExt as _};
use super::super::{prost, types};

use super::*;

#[test]
fn a_server_that_ran_out_of_time_is_no_user_who_cancelled() {
    let verdict = |code, message| Status::new(code, message).verdict();
    assert_eq!(
        verdict(Code::Cancelled, "Timeout expired"),
        Verdict::Transient
    );
    assert_eq!(verdict(Code::Cancelled, "by the user"), Verdict::Unknown);
    assert_eq!(verdict(Code::Internal, "Timeout expired"), Verdict::Unknown);
}

fn pushed_back(code: Code, value: &'static str) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-retry-pushback-ms", value.parse().unwrap());
    Status::with_metadata(code, "", metadata)
}

/// The source of the status was refused, which could be retried at once.
#[test]
fn a_pushback_counts_more_than_the_source_of_the_status() {
    let with = |value: Option<&'static str>| {
        let source = io::Error::from(io::ErrorKind::ConnectionRefused);
        let mut status = Status::from_error(source.into());
        if let Some(value) = value {
            let metadata = status.metadata_mut();
            metadata.insert("grpc-retry-pushback-ms", value.parse().unwrap());
        }
        (status.verdict(), status.hint())
    };
    let delay = Duration::from_millis(250);
    assert_eq!(with(None), (Verdict::Refused, None));
    assert_eq!(with(Some("-1")), (Verdict::Permanent, None));
    assert_eq!(with(Some("250")).1, Some(delay));
    let inside = io::Error::other(pushed_back(Code::Unavailable, "250"));
    assert_eq!(inside.hint(), Some(delay), "also inside of another error");
}

#[test]
fn a_pushback_is_a_delay_or_a_no() {
    let delay = |millis| (Verdict::Transient, Some(Duration::from_millis(millis)));
    let never = (Verdict::Permanent, None);
    for (value, expected) in [
        ("0", delay(0)),
        ("250", delay(250)),
        (
            "9223372036854775807",
            delay(u64::try_from(i64::MAX).unwrap()),
        ),
        ("-1", never),
        ("-9223372036854775808", never),
        ("9223372036854775808", never),
        ("1e3", never),
        ("1.5", never),
        ("soon", never),
        ("", never),
    ] {
        let status = pushed_back(Code::Unavailable, value);
        assert_eq!((status.verdict(), status.hint()), expected, "{value}");
    }
    assert_eq!(
        pushed_back(Code::ResourceExhausted, "10").verdict(),
        Verdict::Throttled
    );
    assert_eq!(
        pushed_back(Code::NotFound, "10").verdict(),
        Verdict::Permanent
    );
}

/// The proxy in front of a service answers with an HTTP status. tonic keeps its headers as metadata.
#[test]
fn the_retry_after_of_a_proxy_is_a_hint_and_throttles() {
    let with = |code, more: &[(&'static str, &str)]| {
        let mut metadata = MetadataMap::new();
        metadata.insert("retry-after", "7".parse().unwrap());
        for (key, value) in more {
            metadata.insert(*key, value.parse().unwrap());
        }
        let status = Status::with_metadata(code, "", metadata);
        (status.verdict(), status.hint())
    };
    let seven = Some(Duration::from_secs(7));
    assert_eq!(with(Code::Unavailable, &[]), (Verdict::Throttled, seven));
    assert_eq!(
        with(Code::ResourceExhausted, &[]),
        (Verdict::Throttled, seven)
    );
    assert_eq!(
        with(Code::PermissionDenied, &[]),
        (Verdict::Permanent, seven)
    );
    assert_eq!(
        with(Code::Unavailable, &[("grpc-retry-pushback-ms", "250")]),
        (Verdict::Transient, Some(Duration::from_millis(250))),
        "what the service says counts more"
    );
    assert_eq!(
        with(Code::Unavailable, &[("grpc-retry-pushback-ms", "-1")]),
        (Verdict::Permanent, None)
    );
    let mut status = Status::with_details(Code::Unavailable, "", details(2));
    status
        .metadata_mut()
        .insert("retry-after", "7".parse().unwrap());
    let two = Some(Duration::from_secs(2));
    assert_eq!((status.verdict(), status.hint()), (Verdict::Transient, two));
}

#[test]
fn two_pushbacks_are_a_no_whatever_they_are() {
    for values in [["10", "20"], ["10", "10"], ["10", "-1"], ["soon", "10"]] {
        let mut metadata = MetadataMap::new();
        for value in values {
            metadata.append("grpc-retry-pushback-ms", value.parse().unwrap());
        }
        let status = Status::with_metadata(Code::Unavailable, "", metadata);
        let said = (status.verdict(), status.hint());
        assert_eq!(said, (Verdict::Permanent, None), "{values:?}");
    }
}

#[test]
fn retry_info_is_a_delay_however_long() {
    let with_delay =
        |code, delay| Status::with_error_details(code, "", ErrorDetails::with_retry_info(delay));
    let seconds = Duration::from_secs(3);
    let status = with_delay(Code::Unavailable, Some(seconds));
    assert_eq!(
        (status.verdict(), status.hint()),
        (Verdict::Transient, Some(seconds))
    );
    let status = with_delay(Code::ResourceExhausted, Some(seconds));
    assert_eq!(
        (status.verdict(), status.hint()),
        (Verdict::Throttled, Some(seconds))
    );
    // The longest delay that `RetryInfo` can hold: ten thousand years.
    let status = with_delay(Code::Unavailable, Some(Duration::MAX));
    assert_eq!(status.hint(), Some(types::RetryInfo::MAX_RETRY_DELAY));
    let status = with_delay(Code::ResourceExhausted, None);
    assert_eq!((status.verdict(), status.hint()), (Verdict::Unknown, None));
    assert_eq!(
        with_delay(Code::NotFound, Some(seconds)).verdict(),
        Verdict::Permanent
    );
}

/// `RetryInfo { retry_delay: { seconds } }` in `Status { details: [Any] }`, field by field.
fn details(seconds: i64) -> Bytes {
    let mut delay = vec![0x08];
    prost::encoding::encode_varint(seconds.cast_unsigned(), &mut delay);
    let info = field(1, &delay);
    let any = [
        field(1, b"type.googleapis.com/google.rpc.RetryInfo"),
        field(2, &info),
    ]
    .concat();
    field(3, &any).into()
}

fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    [&[number << 3 | 2, length], content].concat()
}

#[test]
fn a_negative_retry_info_is_a_no() {
    let status = Status::with_details(Code::Unavailable, "", details(2));
    assert_eq!(
        (status.verdict(), status.hint()),
        (Verdict::Transient, Some(Duration::from_secs(2)))
    );
    let status = Status::with_details(Code::Unavailable, "", details(-1));
    assert_eq!(
        (status.verdict(), status.hint()),
        (Verdict::Permanent, None)
    );
    let status = Status::with_details(Code::Unavailable, "", details(i64::MIN));
    assert_eq!(
        (status.verdict(), status.hint()),
        (Verdict::Permanent, None)
    );
}

#[test]
fn details_that_are_junk_say_nothing() {
    use proptest::prelude::*;
    proptest!(|(details: Vec<u8>)| {
        let status = Status::with_details(Code::ResourceExhausted, "", details.into());
        prop_assert_eq!(status.hint(), None);
        prop_assert_eq!(status.verdict(), Verdict::Unknown);
    });
}

#[test]
fn what_is_behind_a_status_of_this_side_speaks() {
    let behind = |kind: io::ErrorKind| Status::from_error(Box::new(io::Error::from(kind)));
    assert_eq!(
        behind(io::ErrorKind::ConnectionReset).verdict(),
        Verdict::Transient
    );
    assert_eq!(
        behind(io::ErrorKind::ConnectionRefused).verdict(),
        Verdict::Refused
    );
    assert_eq!(
        behind(io::ErrorKind::InvalidData).verdict(),
        Verdict::Permanent
    );
    assert_eq!(behind(io::ErrorKind::Other).verdict(), Verdict::Unknown);
    let reset = h2::Error::from(h2::Reason::REFUSED_STREAM);
    assert_eq!(
        Status::from_error(Box::new(reset)).verdict(),
        Verdict::Refused
    );
    let expired = Status::from_error(Box::new(TimeoutExpired(())));
    assert_eq!(
        (expired.code(), expired.verdict()),
        (Code::Cancelled, Verdict::Transient)
    );
}

#[test]
fn a_pushback_or_a_code_that_is_junk_is_never_retried() {
    use proptest::prelude::*;
    proptest!(|(sent in "[ -~]{0,24}", number: i32)| {
        let mut metadata = MetadataMap::new();
        metadata.insert("grpc-retry-pushback-ms", sent.parse().unwrap());
        let status = Status::with_metadata(Code::Unavailable, "", metadata);
        let digits = sent.trim().trim_start_matches('+');
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        prop_assert!(is_number || status.verdict() == Verdict::Permanent, "{}", sent);
        let retried = Code::from_i32(number).verdict().is_retryable();
        prop_assert_eq!(retried, [4, 10, 14].contains(&number));
    });
}
