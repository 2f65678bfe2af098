use std::io;

use ::redis::ServerErrorKind;

use super::*;

fn server(kind: ServerErrorKind) -> RedisError {
    (ErrorKind::Server(kind), "said by the server").into()
}

#[test]
fn every_kind_has_its_verdict() {
    let table = [
        (server(ServerErrorKind::BusyLoading), Verdict::Refused),
        (server(ServerErrorKind::MasterDown), Verdict::Refused),
        (server(ServerErrorKind::ClusterDown), Verdict::Refused),
        (server(ServerErrorKind::TryAgain), Verdict::Conflict),
        (server(ServerErrorKind::ResponseError), Verdict::Permanent),
        (server(ServerErrorKind::ReadOnly), Verdict::Refused),
        (server(ServerErrorKind::ExecAbort), Verdict::Permanent),
        (server(ServerErrorKind::NoScript), Verdict::Permanent),
        (server(ServerErrorKind::CrossSlot), Verdict::Permanent),
        (server(ServerErrorKind::NotBusy), Verdict::Permanent),
        (server(ServerErrorKind::NoSub), Verdict::Permanent),
        (server(ServerErrorKind::NoPerm), Verdict::Permanent),
        (server(ServerErrorKind::Moved), Verdict::Permanent),
        (server(ServerErrorKind::Ask), Verdict::Permanent),
        (
            (ErrorKind::Parse, "what is this").into(),
            Verdict::Permanent,
        ),
        (
            (ErrorKind::AuthenticationFailed, "no").into(),
            Verdict::Permanent,
        ),
        (
            (ErrorKind::UnexpectedReturnType, "no").into(),
            Verdict::Permanent,
        ),
        (
            (ErrorKind::InvalidClientConfig, "no").into(),
            Verdict::Permanent,
        ),
        ((ErrorKind::Client, "no").into(), Verdict::Permanent),
        ((ErrorKind::Extension, "no").into(), Verdict::Unknown),
        (
            (ErrorKind::EmptySentinelList, "no").into(),
            Verdict::Permanent,
        ),
        (
            (ErrorKind::RESP3NotSupported, "no").into(),
            Verdict::Permanent,
        ),
        (
            (ErrorKind::MasterNameNotFoundBySentinel, "no").into(),
            Verdict::Transient,
        ),
        (
            (ErrorKind::NoValidReplicasFoundBySentinel, "no").into(),
            Verdict::Transient,
        ),
        (
            (ErrorKind::ClusterConnectionNotFound, "no").into(),
            Verdict::Transient,
        ),
    ];
    for (error, verdict) in table {
        assert_eq!(error.verdict(), verdict, "{error}");
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
