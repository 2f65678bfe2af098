use std::io;

use super::*;

#[test]
fn an_io_error_is_by_its_kind() {
    for (kind, verdict) in [
        (io::ErrorKind::ConnectionRefused, Verdict::Transient),
        (io::ErrorKind::NotFound, Verdict::Refused),
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
