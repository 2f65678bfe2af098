use std::io;

use ::redis::ServerErrorKind;

use super::*;

#[test]
fn every_kind_has_its_verdict() {
    let server = [
        (ServerErrorKind::BusyLoading, Verdict::Refused),
        (ServerErrorKind::MasterDown, Verdict::Refused),
        (ServerErrorKind::ClusterDown, Verdict::Refused),
        (ServerErrorKind::TryAgain, Verdict::Conflict),
        (ServerErrorKind::ResponseError, Verdict::Permanent),
        (ServerErrorKind::ReadOnly, Verdict::Refused),
        (ServerErrorKind::ExecAbort, Verdict::Permanent),
        (ServerErrorKind::NoScript, Verdict::Permanent),
        (ServerErrorKind::CrossSlot, Verdict::Permanent),
        (ServerErrorKind::NotBusy, Verdict::Permanent),
        (ServerErrorKind::NoSub, Verdict::Permanent),
        (ServerErrorKind::NoPerm, Verdict::Permanent),
        (ServerErrorKind::Moved, Verdict::Permanent),
        (ServerErrorKind::Ask, Verdict::Permanent),
    ];
    let client = [
        (ErrorKind::Parse, Verdict::Permanent),
        (ErrorKind::AuthenticationFailed, Verdict::Permanent),
        (ErrorKind::UnexpectedReturnType, Verdict::Permanent),
        (ErrorKind::InvalidClientConfig, Verdict::Permanent),
        (ErrorKind::Client, Verdict::Permanent),
        (ErrorKind::Extension, Verdict::Unknown),
        (ErrorKind::EmptySentinelList, Verdict::Permanent),
        (ErrorKind::RESP3NotSupported, Verdict::Permanent),
        (ErrorKind::MasterNameNotFoundBySentinel, Verdict::Transient),
        (
            ErrorKind::NoValidReplicasFoundBySentinel,
            Verdict::Transient,
        ),
        (ErrorKind::ClusterConnectionNotFound, Verdict::Transient),
    ];
    let server = server.map(|(kind, verdict)| (ErrorKind::Server(kind), verdict));
    for (kind, verdict) in server.into_iter().chain(client) {
        let error = RedisError::from((kind, "said by the server or the client"));
        assert_eq!(error.verdict(), verdict, "{kind:?}");
    }
}

#[test]
fn an_io_error_is_by_its_kind() {
    for (kind, verdict) in [
        (io::ErrorKind::ConnectionRefused, Verdict::Refused),
        (io::ErrorKind::ConnectionReset, Verdict::Transient),
        (io::ErrorKind::BrokenPipe, Verdict::Transient),
        (io::ErrorKind::UnexpectedEof, Verdict::Transient),
        (io::ErrorKind::TimedOut, Verdict::Transient),
        (io::ErrorKind::PermissionDenied, Verdict::Permanent),
        (io::ErrorKind::Unsupported, Verdict::Permanent),
    ] {
        assert_eq!(
            RedisError::from(io::Error::from(kind)).verdict(),
            verdict,
            "{kind:?}"
        );
    }
}

#[test]
fn any_code_of_the_server_is_harmless_and_only_listed_ones_are_retried() {
    use proptest::prelude::*;
    let listed = [
        "BUSY",
        "INPROG",
        "IOERR",
        "NOGOODSLAVE",
        "NOMASTERLINK",
        "NOREPLICAS",
    ];
    proptest!(|(code in "\\PC{0,12}|[A-Z]{1,12}", detail: Option<String>)| {
        let error = ::redis::make_extension_error(code.clone(), detail);
        prop_assert_eq!(error.verdict().is_retryable(), listed.contains(&code.as_str()));
        prop_assert_eq!(error.hint(), None);
    });
}
